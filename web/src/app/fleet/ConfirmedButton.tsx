import { useEffect, useRef, useState } from "preact/hooks";
import { have } from "../signing-in/session.ts";

/** A button that has the lab do something after a second press, and states why it was not done. */
export function ConfirmedButton({
  label,
  question,
  url,
  done,
}: {
  label: string;
  question: string;
  url: string;
  done: () => void;
}) {
  const [isAsking, setAsking] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const confirming = useRef<HTMLButtonElement>(null);
  const asking = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (isAsking) {
      confirming.current?.focus();
    }
  }, [isAsking]);
  const close = () => {
    setAsking(false);
    requestAnimationFrame(() => asking.current?.focus());
  };
  const confirm = async () => {
    setBusy(true);
    const reason = await have("POST", url);
    setBusy(false);
    setFault(reason);
    close();
    if (reason === null) {
      done();
    }
  };
  if (!isAsking) {
    return (
      <span class="confirmed">
        <button type="button" class="choice small" ref={asking} onClick={() => setAsking(true)}>
          {label}
        </button>
        {fault !== null && (
          <span class="warning small" role="alert">
            {fault}
          </span>
        )}
      </span>
    );
  }
  return (
    <fieldset
      class="confirmed asking"
      onKeyDown={(event) => {
        if (event.key === "Escape") {
          close();
        }
      }}
    >
      <legend class="sr">{question}</legend>
      <span class="small" aria-hidden="true">
        {question}
      </span>
      <button type="button" class="choice small" ref={confirming} disabled={isBusy} onClick={confirm}>
        {label}
      </button>
      <button type="button" class="choice small" disabled={isBusy} onClick={close}>
        Leave it
      </button>
    </fieldset>
  );
}
