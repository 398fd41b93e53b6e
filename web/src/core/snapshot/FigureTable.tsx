import type { ReadingTable } from "../records.ts";
import { WideTable } from "./WideTable.tsx";

interface Properties {
  table: ReadingTable;
  /** Whether its names are long ones of functions, which are broken where they have no room. */
  isOfFunctions?: boolean;
}

/** A table that the document has as it is read: its first columns are names, the others numbers. */
export function FigureTable({ table, isOfFunctions = false }: Properties) {
  const { heading, columns, rows, names } = table;
  return (
    <WideTable label={heading}>
      <table class={isOfFunctions ? "functions" : "unbroken-names"}>
        <thead>
          <tr>
            {columns.map((column, place) => (
              <th key={column} scope="col" class={place < names ? "" : "number"}>
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells) => (
            <tr key={cells.slice(0, names).join(" ")}>
              {cells.map((cell, place) =>
                place < names ? (
                  <th key={columns[place]} scope="row">
                    {cell}
                  </th>
                ) : (
                  <td key={columns[place]} class="number">
                    {cell}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </WideTable>
  );
}
