import { useState } from "preact/hooks";
import { count } from "../numbers.ts";
import type { CasePictures } from "../pictures.ts";
import type { RunCase } from "../run-document.ts";
import { type Column, runWord } from "../run-reading.ts";
import { CaseName } from "./CaseName.tsx";
import { RunDetails } from "./RunDetails.tsx";
import { VerdictMark } from "./VerdictMark.tsx";

interface Properties {
  measured: RunCase;
  columns: Column[];
  pictures: CasePictures | null;
  openAtFirst: boolean;
}

export function RunRow({ measured, columns, pictures, openAtFirst }: Properties) {
  const [open, setOpen] = useState(openAtFirst);
  const word = runWord(measured);
  return (
    <>
      <tr class="case">
        <CaseName name={measured.case} open={open} setOpen={setOpen}>
          {word !== "measured" && (
            <>
              {" "}
              <VerdictMark word={word} />
            </>
          )}
        </CaseName>
        <td class="quiet">{measured.group}</td>
        {columns.map((column) => (
          <Cell key={column.metric} column={column} value={measured.metrics[column.metric]} />
        ))}
      </tr>
      {open && (
        <tr class="details">
          <td colSpan={2 + columns.length}>
            <RunDetails measured={measured} pictures={pictures} />
          </td>
        </tr>
      )}
    </>
  );
}

/** Empty where it was not measured. */
function Cell({ column, value }: { column: Column; value: number | undefined }) {
  return (
    <td class="number">
      {value !== undefined && (
        <>
          {count(value)}
          <span class="phone quiet"> {column.unit}</span>
        </>
      )}
    </td>
  );
}
