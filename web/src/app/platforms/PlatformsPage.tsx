import { useState } from "preact/hooks";
import type { ListedPlatform, PlatformListing } from "../../core/records.ts";
import { Answered } from "../Answered.tsx";
import { useAnswer } from "../answers.ts";
import { Moment } from "../fleet/Moment.tsx";
import { goTo } from "../navigation.ts";
import { PLATFORMS } from "../pageQueries.ts";
import "../fleet/fleet.css";
import "./platforms.css";

/** All platforms, two of which can be laid side by side. */
export default function PlatformsPage() {
  const answer = useAnswer<PlatformListing>(PLATFORMS);
  return (
    <>
      <h1>Platforms</h1>
      <p class="quiet">
        A platform is a machine that measures, with its settings. Times of two machines say nothing about a
        commit, so each verdict is on two servers on one platform. Two platforms can be laid side by side to
        see whether they come to the same verdicts.
      </p>
      <Answered answer={answer}>
        {({ platforms }) =>
          platforms.length === 0 ? (
            <p>Nothing was measured yet.</p>
          ) : (
            <>
              <PlatformTable platforms={platforms} />
              {platforms.length > 1 && <PairForm platforms={platforms} />}
            </>
          )
        }
      </Answered>
      <p class="quiet small">
        <a href="/api/v1/pages/platforms.csv" download>
          CSV
        </a>
      </p>
    </>
  );
}

/** Where a platform has its page, beside another one where that is given. */
export function platformUrl(fingerprint: string, other?: string): string {
  const path = `/platforms/${encodeURIComponent(fingerprint)}`;
  return other === undefined ? path : `${path}?${new URLSearchParams({ with: other })}`;
}

function PlatformTable({ platforms }: { platforms: ListedPlatform[] }) {
  return (
    <div class="wide">
      <table class="stacked">
        <thead>
          <tr>
            <th scope="col">platform</th>
            <th scope="col">processor</th>
            <th scope="col">kernel</th>
            <th scope="col">seen first</th>
            <th scope="col">facts changed last</th>
            <th scope="col" class="number">
              reports
            </th>
          </tr>
        </thead>
        <tbody>
          {platforms.map((platform) => (
            <tr key={platform.fingerprint}>
              <th scope="row">
                <a href={platformUrl(platform.fingerprint)}>{platform.name}</a>
                <div class="quiet small">{platform.fingerprint}</div>
              </th>
              <td data-heading="processor">
                {platform.cpu}, {platform.cores} {platform.cores === 1 ? "core" : "cores"}
              </td>
              <td data-heading="kernel">{platform.kernel}</td>
              <td data-heading="seen first">
                <Moment at={platform.first_seen} />
              </td>
              <td data-heading="facts changed last">
                {platform.states === 1 ? (
                  <span class="quiet">never</span>
                ) : (
                  <Moment at={platform.last_change} />
                )}
              </td>
              <td class="number" data-heading="reports">
                {platform.reports.toLocaleString("en-US")}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Chooses two platforms to lay side by side. */
function PairForm({ platforms }: { platforms: ListedPlatform[] }) {
  const [here, setHere] = useState(platforms[0]?.fingerprint ?? "");
  const [there, setThere] = useState(platforms[1]?.fingerprint ?? "");
  const choice = (label: string, chosen: string, choose: (fingerprint: string) => void) => (
    <label>
      {label}{" "}
      <select value={chosen} onChange={(event) => choose(event.currentTarget.value)}>
        {platforms.map(({ fingerprint, name, cpu }) => (
          <option key={fingerprint} value={fingerprint}>
            {name} ({cpu}, {fingerprint})
          </option>
        ))}
      </select>
    </label>
  );
  return (
    <section>
      <h2>Verdicts of two platforms, side by side</h2>
      <form
        class="pair"
        onSubmit={(event) => {
          event.preventDefault();
          goTo(platformUrl(here, there));
        }}
      >
        {choice("platform", here, setHere)}
        {choice("beside", there, setThere)}
        <button type="submit" class="choice" disabled={here === there}>
          Show
        </button>
      </form>
    </section>
  );
}
