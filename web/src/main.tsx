import { render } from "preact";
import { Page } from "./components/Page.tsx";
import { RunPage } from "./components/RunPage.tsx";
import { embeddedDocument } from "./embedded.ts";
import { embeddedPictures } from "./pictures.ts";
import "./style.css";

const place = document.getElementById("page");
if (place !== null) {
  const shown = embeddedDocument();
  const pictures = embeddedPictures();
  const isRun = shown.schema === "zerolap.run/1";
  const subject = isRun ? shown.server.name : `${shown.base.name} → ${shown.head.name}`;
  document.title = `${subject} · Zerolap`;
  place.replaceChildren();
  render(
    isRun ? <RunPage report={shown} pictures={pictures} /> : <Page comparison={shown} pictures={pictures} />,
    place,
  );
}
