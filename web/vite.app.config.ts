import { defineConfig } from "vite";

/** The pages of `zerolap serve`: a shell, and scripts and styles that it loads as they are needed. */
export default defineConfig({
  base: "/assets/",
  build: {
    outDir: "../python/zerolap/api/assets",
    assetsDir: "",
    emptyOutDir: true,
    target: "es2022",
    // The policy of the pages permits no script within them.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    rolldownOptions: { input: "app.html" },
  },
});
