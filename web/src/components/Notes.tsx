export function Notes({ notes }: { notes: string[] }) {
  return notes.map((note) => (
    <p key={note} class="note">
      {note}
    </p>
  ));
}
