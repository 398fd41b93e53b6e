import type { ListedCommit, NamedCommit } from "../../core/records.ts";
import { commitUrl } from "./links.ts";

/** What a commit states of itself, as text. */
export function byAuthor({ subject, author }: Pick<ListedCommit, "subject" | "author">): string {
  return subject === "" || author === "" ? subject : `${subject}, by ${author}`;
}

/** What a commit states of itself, its author among it, with the ways to its pull request and to what differs, where its host is known. */
export function CommitSubject({ commit }: { commit: NamedCommit }) {
  const { subject, author, page, pull_request: number, pull_request_page } = commit;
  const mention = `(#${number})`;
  const isLinked = pull_request_page !== null && subject.endsWith(mention);
  return (
    <>
      {isLinked ? subject.slice(0, -mention.length) : subject}
      {isLinked && <a href={pull_request_page}>#{number}</a>}
      {author !== "" && <span class="quiet">, by {author}</span>}
      {page !== null && (
        <>
          {" "}
          <a href={page} title="The difference, at the host of the repository">
            diff
          </a>
        </>
      )}
    </>
  );
}

/** A commit in a list: its name, which leads to what it did, and its subject. */
export function CommitLine({ commit }: { commit: NamedCommit }) {
  return (
    <>
      <a href={commitUrl(commit.commit)}>
        <code>{commit.name}</code>
      </a>{" "}
      <CommitSubject commit={commit} />
    </>
  );
}

/** The subject of the head below the names of both sides. */
export function HeadSubject({ commit }: { commit: NamedCommit | null }) {
  return commit === null ? null : (
    <div class="quiet small">
      <CommitSubject commit={commit} />
    </div>
  );
}
