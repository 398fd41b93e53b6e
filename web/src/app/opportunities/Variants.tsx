/** Other builds of the same code that comparisons have measured to be faster: apart from what is predicted. */

import type { BuildVariant, ListedOpportunities, VariantCase } from "../../core/records.ts";
import { DetectorLink } from "./OpportunityTable.tsx";
import { caseUrl, fasterText, variantName } from "./opportunities.ts";

export function Variants({ document: { variants } }: { document: ListedOpportunities }) {
  if (variants.length === 0) {
    return null;
  }
  return (
    <>
      <h2>Other builds of the same code</h2>
      <p class="quiet small">
        <DetectorLink name="build-variants" />: measured by comparisons, not predicted, and not part of the
        sum. The gain is the mean over all commands that were timed.
      </p>
      <div class="wide">
        <table class="variants">
          <thead>
            <tr>
              <th scope="col">build</th>
              <th scope="col">faster</th>
              <th scope="col">commands</th>
              <th scope="col">faster cases</th>
              <th scope="col">slower cases</th>
              <th scope="col">others</th>
            </tr>
          </thead>
          <tbody>
            {variants.map((of) => (
              <VariantRow key={`${of.variant} ${of.flags} ${of.compiler} ${of.allocator}`} of={of} />
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function VariantRow({ of }: { of: BuildVariant }) {
  const built = [of.compiler, of.flags, of.allocator].filter((part) => part !== "").join(", ");
  return (
    <tr>
      <th scope="row">
        <code>{variantName(of)}</code>
        <div class="quiet small">{built}</div>
      </th>
      <td>
        <span class="phone quiet">faster by </span>
        <b class="number">{fasterText(of.gain)}</b>
      </td>
      <td>
        <span class="phone quiet">commands</span>
        <ul class="plain-list">
          {of.commands.map(({ command, gain }) => (
            <li key={command}>
              {command} <span class="number">{fasterText(gain)}</span>
            </li>
          ))}
        </ul>
      </td>
      <td>
        <span class="phone quiet">faster cases </span>
        <VariantCases cases={of.improvements} />
      </td>
      <td>
        <span class="phone quiet">slower cases </span>
        <VariantCases cases={of.losses} />
      </td>
      <td>
        <div class="number">{of.unchanged} the same</div>
        <div class="number">{of.undecided} undecided</div>
      </td>
    </tr>
  );
}

function VariantCases({ cases }: { cases: readonly VariantCase[] }) {
  if (cases.length === 0) {
    return <span class="quiet">none</span>;
  }
  return (
    <ul class="plain-list">
      {cases.map((of) => (
        <li key={of.case} title={of.metric}>
          <a href={caseUrl(of.comparison, of.case)}>{of.case}</a>{" "}
          <span class="number">{fasterText(of.gain)}</span>
        </li>
      ))}
    </ul>
  );
}
