/* Workers compile modules when they are deployed, and import them as they are. */
declare module "*.wasm" {
  const module: WebAssembly.Module;
  export default module;
}
