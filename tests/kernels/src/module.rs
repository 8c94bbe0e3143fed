//! Host of the module.

use anyhow::{Context, Result, anyhow};
use wasmtime::{Config, Engine, Instance, Memory, Store, TypedFunc};

use crate::{Job, Kernel};

type RunParams = (u32, u32, u32, u64, u64, u32, u32);

/// Loaded module.
pub struct Module {
    store: Store<()>,
    memory: Memory,
    room: TypedFunc<u32, u32>,
    run: TypedFunc<RunParams, u32>,
    numbers: TypedFunc<(), u32>,
}

impl Module {
    /// Loads the module that `cargo xtask guest` has built.
    ///
    /// # Errors
    /// The module is missing, or has imports.
    pub fn load() -> Result<Self> {
        let path = env!("CANTER_KERNELS");
        let bytes =
            std::fs::read(path).with_context(|| format!("{path}; run `cargo xtask guest`"))?;
        let mut config = Config::new();
        // Compiled for the baseline target, like the guest, not for this processor. (Unlike the
        // guest's loops, these do not check for interruption in each iteration, which takes no
        // measurable time.)
        config
            .target(env!("CANTER_KERNELS_TARGET"))
            .map_err(failed)?;
        let engine = Engine::new(&config).map_err(failed)?;
        let module = wasmtime::Module::new(&engine, bytes).map_err(failed)?;
        let mut store = Store::new(&engine, ());
        let instance = Instance::new(&mut store, &module, &[]).map_err(failed)?;
        let memory = instance.get_memory(&mut store, "memory");
        Ok(Self {
            memory: memory.context("the module has no memory")?,
            room: instance
                .get_typed_func(&mut store, "room")
                .map_err(failed)?,
            run: instance.get_typed_func(&mut store, "run").map_err(failed)?,
            numbers: instance
                .get_typed_func(&mut store, "numbers")
                .map_err(failed)?,
            store,
        })
    }

    /// Passes the bytes for later jobs.
    ///
    /// # Errors
    /// Memory is exhausted.
    pub fn set_data(&mut self, data: &[u8]) -> Result<()> {
        let room = self.room.call(&mut self.store, data.len().try_into()?);
        let room = room.map_err(failed)?;
        self.memory.write(&mut self.store, room as usize, data)?;
        Ok(())
    }

    /// Runs a job, and returns the number of results.
    ///
    /// # Errors
    /// A trap.
    pub fn run(&mut self, job: &Job) -> Result<usize> {
        let kernel = Kernel::ALL.iter().position(|kernel| *kernel == job.kernel);
        let kernel = kernel.context("a kernel without a place")?;
        let [least, span] = job.range;
        let params = (
            u32::try_from(kernel)?,
            job.width.into(),
            job.first,
            least,
            span,
            job.num_rows,
            job.repeats,
        );
        let len = self.run.call(&mut self.store, params);
        Ok(len.map_err(failed)? as usize)
    }

    /// Runs a job, and returns the results.
    ///
    /// # Errors
    /// A trap.
    pub fn numbers(&mut self, job: &Job) -> Result<Vec<u64>> {
        let len = self.run(job)?;
        let start = self.numbers.call(&mut self.store, ());
        let start = start.map_err(failed)? as usize;
        let bytes = self.memory.data(&self.store).get(start..start + 8 * len);
        let (numbers, _) = bytes.context("numbers outside of memory")?.as_chunks();
        Ok(numbers
            .iter()
            .map(|bytes| u64::from_le_bytes(*bytes))
            .collect())
    }
}

fn failed(error: wasmtime::Error) -> anyhow::Error {
    anyhow!("{error:#}")
}
