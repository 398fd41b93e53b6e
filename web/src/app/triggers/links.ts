/** Where the triggers of a repository are listed, or those of one of its pull requests. */
export function triggersUrl(repository: string, pullRequest: number | null): string {
  const number = pullRequest === null ? {} : { number: String(pullRequest) };
  return `/triggers?${new URLSearchParams({ repository, ...number })}`;
}

/** Where a trigger is shown alone. */
export function triggerUrl(id: string): string {
  return `/triggers?${new URLSearchParams({ trigger: id })}`;
}
