/** Moving conversations: bundles, copies, migrations, redaction, and exports for people. */
export { copySpace, followSpace } from "./copy-space.ts";
export { exportBundle } from "./bundles/export-bundle.ts";
export { bundleFile } from "./bundles/open-import.ts";
export { importBundle } from "./bundles/import-bundle.ts";
export { followMigration, migrateInto } from "./migrate/migrate-space.ts";
export type { MigrationSource } from "./migrate/migration-source.ts";
export { pieceBodies } from "./migrate/ready-pieces.ts";
export { openMigrationSource } from "./migrate/open-migration-source.ts";
export { verifyMigration } from "./migrate/verify-migration.ts";
export { exportHtml } from "./transcripts/html.ts";
export { exportMarkdown } from "./transcripts/markdown.ts";
export { exportJson } from "./transcripts/read-transcript.ts";
export { redactText } from "./redact-text.ts";
