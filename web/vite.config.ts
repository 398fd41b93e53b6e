import { defineConfig } from "vite";
import { singleFile } from "./single-file.ts";

export default defineConfig({
  plugins: [singleFile("report.html")],
  build: {
    outDir: "../python/zerolap/report/assets",
    emptyOutDir: false,
    cssCodeSplit: false,
    modulePreload: false,
    target: "es2022",
    assetsInlineLimit: Number.MAX_SAFE_INTEGER,
  },
});
