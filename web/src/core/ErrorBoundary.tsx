import { Component, type ComponentChildren } from "preact";
import { useState } from "preact/hooks";

interface Properties {
  /** The subject of the sentence `… cannot be shown.` */
  subject: string;
  /** The data that the children show, and the file name to save it under. */
  data: () => string;
  file: string;
  /** What the reader can do. */
  hint?: string;
  children: ComponentChildren;
}

/** Shows its children, or a message and their data if rendering them failed. */
export class ErrorBoundary extends Component<Properties, { fault: unknown }> {
  override state = { fault: null };

  static override getDerivedStateFromError(fault: unknown) {
    return { fault };
  }

  override render({ children, ...properties }: Properties, { fault }: { fault: unknown }) {
    return fault === null ? children : <FaultMessage {...properties} fault={fault} />;
  }
}

function FaultMessage({
  subject,
  data,
  file,
  hint,
  fault,
}: Omit<Properties, "children"> & { fault: unknown }) {
  const [text, setText] = useState<string | null>(null);
  return (
    <section class="fault" role="alert">
      <p class="warning">{subject} cannot be shown.</p>
      <p>{fault instanceof Error ? fault.message : String(fault)}</p>
      {hint !== undefined && <p>{hint}</p>}
      <p>
        <button type="button" class="choice" onClick={() => save(data(), file)}>
          save the data
        </button>
      </p>
      <details onToggle={(event) => setText(event.currentTarget.open ? data() : null)}>
        <summary>show the data</summary>
        {text !== null && <pre class="small">{text}</pre>}
      </details>
    </section>
  );
}

function save(text: string, file: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.download = file;
  link.click();
  URL.revokeObjectURL(link.href);
}
