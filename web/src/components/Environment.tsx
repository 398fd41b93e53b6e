import type { Build, Comparison } from "../document.ts";
import { percent } from "../numbers.ts";

export function Environment({ comparison }: { comparison: Comparison }) {
  const { platform, settings } = comparison;
  const effects = Object.entries(settings.min_effect).map(([engine, value]) => `${engine} ${percent(value)}`);
  return (
    <section>
      <h2>How to repeat it</h2>
      <pre>{comparison.command_line}</pre>
      <dl class="facts">
        <dt>seed</dt>
        <dd>{settings.seed}</dd>
        <dt>minimum effect</dt>
        <dd>
          {effects.join(", ")}; q {settings.q}
        </dd>
        <dt>base</dt>
        <dd>
          <Side build={comparison.base} />
        </dd>
        <dt>head</dt>
        <dd>
          <Side build={comparison.head} />
        </dd>
        <dt>platform</dt>
        <dd>
          {platform.name}: {platform.cpu}, {platform.cores} cores, kernel {platform.kernel}{" "}
          <code class="quiet">{platform.fingerprint}</code>
        </dd>
        <dt>comparison</dt>
        <dd>
          <code>{comparison.id}</code> of {comparison.created}
        </dd>
      </dl>
    </section>
  );
}

function Side({ build }: { build: Build }) {
  return (
    <>
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
    </>
  );
}
