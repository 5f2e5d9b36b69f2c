/** Moving conversations: bundles, copies, migrations, redaction, and exports for people. */
export type { CopyOptions, CopyResult } from "./copy/copy-result.ts";
export { copySpace, followSpace } from "./copy/copy-space.ts";
export { type BundleOptions, exportBundle } from "./export-bundle.ts";
export { bundleFile } from "./import/bundle-file.ts";
export { type ImportOptions, type ImportedBundle, importBundle } from "./import/import-bundle.ts";
export type { MigrateOptions, MigrateResult } from "./migrate/migrate-result.ts";
export { followMigration, migrateInto } from "./migrate/migrate-space.ts";
export type { MigrationSource } from "./migrate/migration-source.ts";
export { pieceBodies } from "./migrate/piece-bodies.ts";
export { openMigrationSource } from "./migrate/sources/open-migration-source.ts";
export { verifyMigration } from "./migrate/verify-migration.ts";
export { exportHtml } from "./people/html.ts";
export { exportMarkdown } from "./people/markdown.ts";
export { exportJson } from "./people/people-json.ts";
export { redactPayload } from "./redact/redact-entry.ts";
export { redactText } from "./redact/redact-text.ts";
