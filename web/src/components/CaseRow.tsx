import { useState } from "preact/hooks";
import type { CaseResult } from "../document.ts";
import { change, count, interval, probability } from "../numbers.ts";
import type { CasePictures } from "../pictures.ts";
import { deciding, isChanged, metricLabel, word } from "../reading.ts";
import { CaseDetails } from "./CaseDetails.tsx";
import { CaseName } from "./CaseName.tsx";
import { IntervalChart, type Scale } from "./IntervalChart.tsx";
import { VerdictMark } from "./VerdictMark.tsx";

interface Properties {
  result: CaseResult;
  pictures: CasePictures | null;
  scale: Scale;
  /** Whether to say which metric the change is of. */
  named: boolean;
}

export function CaseRow({ result, pictures, scale, named }: Properties) {
  const [open, setOpen] = useState(word(result) === "regression");
  const verdict = deciding(result);
  return (
    <>
      <tr class="case">
        <CaseName name={result.case} open={open} setOpen={setOpen} />
        <td>
          <VerdictMark word={word(result)} />
          {isChanged(result) && !result.confirmed && <span class="quiet"> counted</span>}
        </td>
        {verdict === undefined ? (
          <td colSpan={4} />
        ) : (
          <>
            <td class="number strong">{change(verdict.change)}</td>
            <td class="interval">
              <IntervalChart verdict={verdict} scale={scale} word={word(result)} />
              <span class="quiet number">{interval(verdict.low, verdict.high)}</span>
            </td>
            <td class="number values" title={metricLabel(verdict.metric)}>
              {count(verdict.base)} → {count(verdict.head)}
              {named && <div class="quiet small">{metricLabel(verdict.metric)}</div>}
            </td>
            <td class="number q">
              <span class="phone">q </span>
              {probability(verdict.q)}
            </td>
          </>
        )}
      </tr>
      {open && (
        <tr class="details">
          <td colSpan={6}>
            <CaseDetails result={result} pictures={pictures} />
          </td>
        </tr>
      )}
    </>
  );
}
