/** Styles that come with a page are imported by it; the build makes files of them. */
declare module "*.css";
