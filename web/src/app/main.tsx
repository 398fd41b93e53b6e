import { render } from "preact";
import { App } from "./App.tsx";
import { followLinks } from "./navigation.ts";
import { routeOf } from "./routes.ts";
import "../core/style.css";
import "./app.css";

followLinks((path) => routeOf(path) !== null);
const root = document.getElementById("app");
if (root !== null) {
  root.replaceChildren();
  render(<App />, root);
}
