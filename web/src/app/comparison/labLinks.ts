import type { LabLinks } from "../../core/cases/labLinks.ts";

export const LAB_LINKS: LabLinks = {
  commit: (hash) => `/commits/${encodeURIComponent(hash)}`,
  platform: (fingerprint) => `/platforms/${encodeURIComponent(fingerprint)}`,
};
