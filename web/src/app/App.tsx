import type { ComponentType } from "preact";
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { ErrorBoundary } from "../core/ErrorBoundary.tsx";
import { askEarly } from "./answers.ts";
import { useAddress } from "./navigation.ts";
import { NOTICE } from "./notice.ts";
import { NOT_LOADED, type PageProps, ROUTES, type Route, routeOf } from "./routes.ts";
import { SearchField } from "./search/SearchField.tsx";
import { SignedInAs } from "./signing-in/SignedInAs.tsx";

/** The navigation, and the page that the address names. */
export function App() {
  const { path, parameters } = useAddress();
  const found = routeOf(path);
  return (
    <>
      <a class="skip" href="#page">
        Skip to the page
      </a>
      <header class="lab">
        <a class="name" href="/">
          Zerolap
        </a>
        <nav aria-label="Pages">
          {ROUTES.filter((route) => route.isListed).map((route) => (
            <a key={route.path} href={route.path} aria-current={route.path === path ? "page" : undefined}>
              {route.title}
            </a>
          ))}
        </nav>
        <SearchField text={path === "/search" ? (parameters.get("text") ?? "") : ""} />
        <SignedInAs />
      </header>
      {NOTICE !== null && (
        <aside class="lab-notice" aria-label="Notice">
          {NOTICE}
        </aside>
      )}
      <main id="page" tabIndex={-1}>
        {found === null ? (
          <NoPage path={path} />
        ) : (
          // A fault of a page goes with its path; the navigation stays.
          <ErrorBoundary key={path} subject="This page" data={() => ""} file="">
            <LoadedPage route={found.route} parts={found.parts} parameters={parameters} />
          </ErrorBoundary>
        )}
      </main>
    </>
  );
}

const loaded = new Map<Route, ComponentType<PageProps>>();

function LoadedPage({ route, parts, parameters }: PageProps & { route: Route }) {
  const [, drawAgain] = useState(0);
  const [fault, setFault] = useState<string | null>(null);
  // Before the effects of the page, which may have a title of its own.
  useLayoutEffect(() => {
    document.title = `${route.title} · Zerolap`;
  }, [route]);
  useEffect(() => {
    if (loaded.has(route)) {
      return;
    }
    askEarly(route.asks?.(parts, parameters) ?? []);
    route.load().then(
      (module) => {
        loaded.set(route, module.default);
        drawAgain((count) => count + 1);
      },
      () => setFault(NOT_LOADED),
    );
  }, [route]);
  const Page = loaded.get(route);
  if (Page === undefined) {
    return fault === null ? null : <p class="warning">{fault}</p>;
  }
  return <Page parts={parts} parameters={parameters} />;
}

function NoPage({ path }: { path: string }) {
  return (
    <>
      <h1>Not found</h1>
      <p>
        The lab has no page <code>{path}</code>. The <a href="/">overview</a> leads to all there are.
      </p>
    </>
  );
}
