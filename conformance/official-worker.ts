/** The worker of the official client by its own variables alone: for one item where they name it, else until it is asked to go. */
import Anthropic from '@anthropic-ai/sdk'

const stop = new AbortController()
process.once('SIGTERM', () => stop.abort())
const client = new Anthropic({ apiKey: null, authToken: null })
const worker = client.beta.environments.work.worker({
  ...{ workdir: process.argv[2] ?? '', signal: stop.signal, maxIdleMs: 500 },
  ...(process.env['ANTHROPIC_WORK_ID'] === undefined
    ? {
        environmentId: process.env['ANTHROPIC_ENVIRONMENT_ID'] ?? '',
        environmentKey: process.env['ANTHROPIC_ENVIRONMENT_KEY'] ?? '',
      }
    : {}),
})
await (process.env['ANTHROPIC_WORK_ID'] === undefined ? worker.run() : worker.handleItem())
process.exit()
