/** Where a trigger is shown alone. */
export function triggerUrl(id: string): string {
  return `/triggers?${new URLSearchParams({ trigger: id })}`;
}
