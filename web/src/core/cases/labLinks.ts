/** Where the lab has more on what a report names; the report in one file has no lab to lead to. */
export interface LabLinks {
  /** The address of a commit's page. */
  commit: (hash: string) => string;
  /** The address of a platform's page. */
  platform: (fingerprint: string) => string;
}
