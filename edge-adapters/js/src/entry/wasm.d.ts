/*
 * A `.wasm` file as Workers import it: compiled when the script is uploaded.
 */

declare module "*.wasm" {
  const module: WebAssembly.Module;
  export default module;
}
