import type { ComponentChildren } from "preact";
import { CopyButton } from "../CopyButton.tsx";
import { counted, duration } from "../numbers.ts";
import type { DrawnSweep } from "../records.ts";

interface Properties {
  report: DrawnSweep["report"];
  /** Facts of this kind of sweep: terms with their descriptions. */
  children?: ComponentChildren;
}

/** By what a sweep is measured again, and where it was. */
export function SweepReproduction({ report, children }: Properties) {
  const { id, command_line, platform, settings, machine_seconds, created } = report;
  return (
    <section>
      <h2>How to reproduce</h2>
      <pre>{command_line}</pre>
      <CopyButton text={command_line} subject="the command" />
      <dl class="facts">
        {id !== "" && (
          <>
            <dt>sweep</dt>
            <dd>
              <code>{id}</code>
            </dd>
          </>
        )}
        <dt>seed</dt>
        <dd>{settings.seed}</dd>
        {children}
        <dt>platform</dt>
        <dd>
          {platform.name}: {platform.cpu}, {counted(platform.cores, "core", "cores")}, kernel{" "}
          {platform.kernel}
        </dd>
        <dt>measured</dt>
        <dd>
          {created}, in {duration(machine_seconds)}
        </dd>
      </dl>
    </section>
  );
}
