/** The pages of the lab: their paths, and what shows them, loaded when it is first needed. */

import type { ComponentType } from "preact";
import * as queries from "./pageQueries.ts";

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
  /** The URLs that the page asks for at first, so that they are not asked only once its script is there. */
  asks?: (parts: PageProps["parts"], parameters: URLSearchParams) => readonly string[];
}

/** What stands where a script that a page is loaded from, or a part of it, does not come. */
export const NOT_LOADED =
  "This page could not be loaded: the lab does not answer, or was updated. Load it again.";

export const ROUTES: readonly Route[] = [
  {
    path: "/",
    title: "Overview",
    isListed: true,
    load: () => import("./overview/OverviewPage.tsx"),
    asks: () => [queries.OVERVIEW],
  },
  {
    path: "/search",
    title: "Search",
    load: () => import("./search/SearchPage.tsx"),
    asks: (_, parameters) => [queries.searchQuery(parameters) ?? []].flat(),
  },
  {
    path: "/reports",
    title: "Reports",
    isListed: true,
    load: () => import("./reports/ReportsPage.tsx"),
    asks: (_, parameters) => [queries.reportsQuery(parameters)],
  },
  {
    path: "/comparisons/{identity}",
    title: "Comparison",
    load: async () => ({ default: (await import("./comparison/ReportRoute.tsx")).ComparisonRoute }),
    asks: ({ identity = "" }, parameters) => queries.reportQueries("comparison", identity, parameters),
  },
  {
    path: "/runs/{identity}",
    title: "Run",
    load: async () => ({ default: (await import("./comparison/ReportRoute.tsx")).RunRoute }),
    asks: ({ identity = "" }, parameters) => queries.reportQueries("run", identity, parameters),
  },
  {
    path: "/snapshots",
    title: "Snapshots",
    isListed: true,
    load: () => import("./snapshots/SnapshotsPage.tsx"),
    asks: (_, parameters) => [queries.snapshotsQuery(parameters)],
  },
  {
    path: "/snapshots/{identity}",
    title: "Snapshot",
    load: () => import("./snapshots/SnapshotRoute.tsx"),
    asks: ({ identity = "" }) => [queries.snapshotQuery(identity)],
  },
  {
    path: "/trials/{number}",
    title: "Trial",
    load: () => import("./trial/TrialPage.tsx"),
    asks: ({ number = "" }) => [queries.trialQuery(number)],
  },
  {
    path: "/series",
    title: "Series",
    isListed: true,
    load: () => import("./series/SeriesPage.tsx"),
    asks: (_, parameters) => [
      queries.namesSeries(parameters) ? queries.seriesQuery(parameters) : queries.SERIES_LIST,
    ],
  },
  {
    path: "/versions",
    title: "Versions",
    isListed: true,
    load: () => import("./versions/VersionsPage.tsx"),
    asks: (_, parameters) => [queries.versionsQuery(parameters)],
  },
  {
    path: "/stacks",
    title: "Stacks",
    isListed: true,
    load: () => import("./stacks/StacksPage.tsx"),
    asks: (_, parameters) => [queries.stacksQuery(parameters)],
  },
  {
    path: "/opportunities",
    title: "Opportunities",
    isListed: true,
    load: () => import("./opportunities/OpportunitiesPage.tsx"),
    asks: (_, parameters) => [queries.opportunitiesQuery(parameters)],
  },
  {
    path: "/detectors/{name}",
    title: "Detector",
    load: () => import("./detectors/DetectorPage.tsx"),
  },
  {
    path: "/commits/{commit}",
    title: "Commit",
    load: () => import("./commits/CommitPage.tsx"),
    asks: ({ commit = "" }) => (queries.isHash(commit) ? [queries.commitQuery(commit)] : []),
  },
  {
    path: "/fleet",
    title: "Fleet",
    isListed: true,
    load: () => import("./fleet/FleetPage.tsx"),
    asks: () => [queries.fleetQuery()],
  },
  {
    path: "/platforms",
    title: "Platforms",
    isListed: true,
    load: () => import("./platforms/PlatformsPage.tsx"),
    asks: () => [queries.PLATFORMS],
  },
  {
    path: "/platforms/{fingerprint}",
    title: "Platform",
    load: () => import("./platforms/PlatformPage.tsx"),
    asks: ({ fingerprint = "" }, parameters) => [queries.platformQuery(fingerprint, parameters.get("with"))],
  },
  {
    path: "/triggers",
    title: "Triggers",
    isListed: true,
    load: () => import("./triggers/TriggersPage.tsx"),
    asks: (_, parameters) => [queries.triggersQuery(parameters)],
  },
  {
    path: "/api",
    title: "API",
    isListed: true,
    load: () => import("./api/ApiPage.tsx"),
    asks: () => [queries.DESCRIPTION],
  },
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
