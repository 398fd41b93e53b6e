import { createHash } from "node:crypto";
import type { Plugin, Rolldown } from "vite";

const POLICY = "__CONTENT_SECURITY_POLICY__";
/** What is put into the page for each report. */
const DATA = ["__ZEROLAP_DOCUMENT__", "__ZEROLAP_PICTURES__", "<!-- __ZEROLAP_STACKS__ -->"];

/** Puts the script and the style into the page, and lets the page run these two and load nothing. */
export function singleFile(name: string): Plugin {
  return {
    name: "single-file",
    enforce: "post",
    generateBundle(_options, bundle) {
      const page = bundle["index.html"];
      if (page?.type !== "asset") {
        throw new Error("no index.html was built");
      }
      const outputs = Object.values(bundle);
      const script = onlyText(outputs, ".js").trim().replaceAll("</script", "<\\/script");
      const style = onlyText(outputs, ".css").trim();
      const policy = [
        "default-src 'none'",
        `script-src '${digest(script)}'`,
        `style-src '${digest(style)}'`,
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
      ].join("; ");
      const html = asText(page.source)
        .replace(/\s*<link rel="stylesheet"[^>]*>/g, "")
        .replace(/\s*<link rel="modulepreload"[^>]*>/g, "")
        .replace(/\s*<script type="module"[^>]*><\/script>/g, "")
        .replace(POLICY, () => policy)
        .replace("</head>", () => `<style>${style}</style>\n  </head>`)
        .replace("</body>", () => `<script type="module">${script}</script>\n  </body>`);
      for (const placeholder of DATA) {
        if (html.split(placeholder).length !== 2) {
          throw new Error(`the page must contain ${placeholder} exactly once`);
        }
      }
      for (const file of Object.keys(bundle)) {
        delete bundle[file];
      }
      this.emitFile({ type: "asset", fileName: name, source: html });
    },
  };
}

function onlyText(outputs: (Rolldown.OutputAsset | Rolldown.OutputChunk)[], ending: string): string {
  const matching = outputs.filter((output) => output.fileName.endsWith(ending));
  const [only] = matching;
  if (only === undefined || matching.length !== 1) {
    throw new Error(`expected one ${ending} file, got ${matching.length}`);
  }
  return only.type === "chunk" ? only.code : asText(only.source);
}

function asText(source: string | Uint8Array): string {
  return typeof source === "string" ? source : new TextDecoder().decode(source);
}

function digest(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}
