import type { MetricVerdict } from "../document.ts";
import { change, count, interval, percent, probability } from "../numbers.ts";
import { metricLabel } from "../reading.ts";
import { VerdictMark } from "./VerdictMark.tsx";

export function VerdictTable({ verdicts }: { verdicts: MetricVerdict[] }) {
  return (
    <>
      <h3>Metrics</h3>
      <div class="wide">
        <table>
          <thead>
            <tr>
              <th scope="col">metric</th>
              <th scope="col">verdict</th>
              <th scope="col" class="number">
                change
              </th>
              <th scope="col" class="number">
                interval
              </th>
              <th scope="col" class="number">
                base → head
              </th>
              <th scope="col" class="number">
                q
              </th>
              <th scope="col" class="number">
                detectable
              </th>
              <th scope="col" class="number">
                samples
              </th>
            </tr>
          </thead>
          <tbody>
            {verdicts.map((verdict) => (
              <tr key={`${verdict.engine}-${verdict.metric}`}>
                <th scope="row">
                  {metricLabel(verdict.metric)} <span class="quiet">{verdict.engine}</span>
                </th>
                <td>
                  <VerdictMark word={verdict.verdict} />
                </td>
                <td class="number">{change(verdict.change)}</td>
                <td class="number">{interval(verdict.low, verdict.high)}</td>
                <td class="number">
                  {count(verdict.base)} → {count(verdict.head)}
                </td>
                <td class="number">{probability(verdict.q)}</td>
                <td class="number">{percent(verdict.detectable)}</td>
                <td class="number">{verdict.samples}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
