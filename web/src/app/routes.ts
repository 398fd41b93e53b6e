/** The pages of the lab: their paths, and what shows them, loaded when it is first needed. */

import type { ComponentType } from "preact";

/** What a page gets: the parts of its path that vary, and the parameters of the address. */
export interface PageProps {
  parts: Record<string, string>;
  parameters: URLSearchParams;
}

export interface Route {
  /** The path as `ROUTES` of python/zerolap/api/app_pages.py has it; `{name}` stands for a part that varies. */
  path: string;
  /** The title, of the document and in the navigation. */
  title: string;
  /** Whether the navigation leads there. */
  isListed?: boolean;
  load: () => Promise<{ default: ComponentType<PageProps> }>;
}

export const ROUTES: readonly Route[] = [
  { path: "/", title: "Overview", isListed: true, load: () => import("./overview/OverviewPage.tsx") },
  { path: "/reports", title: "Reports", isListed: true, load: () => import("./reports/ReportsPage.tsx") },
  {
    path: "/comparisons/{identity}",
    title: "Comparison",
    load: () => import("./comparison/ComparisonRoute.tsx"),
  },
  { path: "/runs/{identity}", title: "Run", load: () => import("./run/RunRoute.tsx") },
  { path: "/trials/{number}", title: "Trial", load: () => import("./trial/TrialPage.tsx") },
  { path: "/series", title: "Series", isListed: true, load: () => import("./series/SeriesPage.tsx") },
  { path: "/versions", title: "Versions", isListed: true, load: () => import("./versions/VersionsPage.tsx") },
  { path: "/stacks", title: "Stacks", isListed: true, load: () => import("./stacks/StacksPage.tsx") },
  { path: "/commits/{commit}", title: "Commit", load: () => import("./commits/CommitPage.tsx") },
  { path: "/fleet", title: "Fleet", isListed: true, load: () => import("./fleet/FleetPage.tsx") },
  {
    path: "/platforms",
    title: "Platforms",
    isListed: true,
    load: () => import("./platforms/PlatformsPage.tsx"),
  },
  { path: "/platforms/{fingerprint}", title: "Platform", load: () => import("./platforms/PlatformPage.tsx") },
  { path: "/triggers", title: "Triggers", isListed: true, load: () => import("./triggers/TriggersPage.tsx") },
  { path: "/api", title: "API", isListed: true, load: () => import("./api/ApiPage.tsx") },
  { path: "/sign-in", title: "Sign in", load: () => import("./signing-in/SignInPage.tsx") },
];

/** The route of a path with the parts that vary, none where there is no such page. */
export function routeOf(path: string): { route: Route; parts: Record<string, string> } | null {
  const asked = path.split("/");
  for (const route of ROUTES) {
    const parts = partsOf(route.path.split("/"), asked);
    if (parts !== null) {
      return { route, parts };
    }
  }
  return null;
}

function partsOf(pattern: string[], asked: string[]): Record<string, string> | null {
  if (pattern.length !== asked.length) {
    return null;
  }
  const parts: Record<string, string> = {};
  for (const [place, expected] of pattern.entries()) {
    const given = asked[place] ?? "";
    if (expected.startsWith("{")) {
      // What ends with a dot and letters is a file, as `c-1.json`.
      if (given === "" || /\.[a-z]+$/.test(given)) {
        return null;
      }
      parts[expected.slice(1, -1)] = decoded(given);
    } else if (expected !== given) {
      return null;
    }
  }
  return parts;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
