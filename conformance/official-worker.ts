/** Runs the worker of the official client by its variables: for the work item that they name, else until SIGTERM. */
const stop = new AbortController()
process.once('SIGTERM', () => stop.abort())
const [workdir = '', maxIdleMs = '500'] = process.argv.slice(2)
const isOneItem = process.env['ANTHROPIC_WORK_ID'] !== undefined
const none = { apiKey: null, authToken: null }
const options = {
  ...{ workdir, signal: stop.signal, maxIdleMs: Number(maxIdleMs) },
  ...(isOneItem
    ? {}
    : {
        environmentId: process.env['ANTHROPIC_ENVIRONMENT_ID'] ?? '',
        environmentKey: process.env['ANTHROPIC_ENVIRONMENT_KEY'] ?? '',
      }),
}

async function workerOf(version: string | undefined) {
  if (version === '0.120.0') {
    const { default: First } = await import('@anthropic-ai/sdk-0.120')
    return new First(none).beta.environments.work.worker(options)
  }
  const { default: Newest } = await import('@anthropic-ai/sdk')
  return new Newest(none).beta.environments.work.worker(options)
}

const worker = await workerOf(process.env['OFFICIAL_CLIENT'])
await (isOneItem ? worker.handleItem() : worker.run())
process.exit()
