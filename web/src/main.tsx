import { render } from "preact";
import { Page } from "./components/Page.tsx";
import { embeddedDocument } from "./document.ts";
import { embeddedPictures } from "./pictures.ts";
import "./style.css";

const place = document.getElementById("page");
if (place !== null) {
  const comparison = embeddedDocument();
  document.title = `${comparison.base.name} → ${comparison.head.name} · Zerolap`;
  place.replaceChildren();
  render(<Page comparison={comparison} pictures={embeddedPictures()} />, place);
}
