/** Stands in every JSON answer that programs read; counted up when one of them changes other than by addition. */
export const SCHEMA_VERSION = 1;
