import { render } from "preact";
import { Page } from "./components/Page.tsx";
import { embeddedDocument } from "./document.ts";
import "./style.css";

const place = document.getElementById("page");
if (place !== null) {
  const comparison = embeddedDocument();
  document.title = `${comparison.base.name} → ${comparison.head.name} · Zerolap`;
  place.replaceChildren();
  render(<Page comparison={comparison} />, place);
}
