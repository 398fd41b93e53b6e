import type { Build, Comparison } from "../document.ts";
import { percent } from "../numbers.ts";
import type { RunReport } from "../run-document.ts";

/** How to measure the figures of a comparison or a run again, and what they were measured on. */
export function Environment({ measured }: { measured: Comparison | RunReport }) {
  const { platform, settings } = measured;
  const isRun = measured.schema === "zerolap.run/1";
  return (
    <section>
      <h2>How to repeat it</h2>
      <pre>{measured.command_line}</pre>
      <dl class="facts">
        <dt>seed</dt>
        <dd>{settings.seed}</dd>
        {isRun ? <Server name="server" build={measured.server} /> : <Sides comparison={measured} />}
        <dt>platform</dt>
        <dd>
          {platform.name}: {platform.cpu}, {platform.cores} cores, kernel {platform.kernel}{" "}
          <code class="quiet">{platform.fingerprint}</code>
        </dd>
        <dt>{isRun ? "run" : "comparison"}</dt>
        <dd>
          <code>{measured.id}</code> of {measured.created}
        </dd>
      </dl>
    </section>
  );
}

function Sides({ comparison }: { comparison: Comparison }) {
  const { min_effect, q } = comparison.settings;
  const effects = Object.entries(min_effect).map(([engine, value]) => `${engine} ${percent(value)}`);
  return (
    <>
      <dt>minimum effect</dt>
      <dd>
        {effects.join(", ")}; q {q}
      </dd>
      <Server name="base" build={comparison.base} />
      <Server name="head" build={comparison.head} />
    </>
  );
}

function Server({ name, build }: { name: string; build: Build }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>
        <code>{build.name}</code> {build.version} {build.commit !== null && <code>{build.commit}</code>}
        <br />
        <span class="quiet">
          {build.compiler} <code>{build.flags || "flags unknown"}</code>
          {build.stripped && ", stripped"}
          {Object.entries(build.config).map(([name, value]) => (
            <code key={name}>
              {" "}
              {name}={value}
            </code>
          ))}
        </span>
        <br />
        <span class="quiet">
          build <code>{build.build}</code>
          {build.build_id !== "" && (
            <>
              , build id <code>{build.build_id}</code>
            </>
          )}
        </span>
      </dd>
    </>
  );
}
