/** The worker of the official client by its own variables alone, until it is asked to go. */
import Anthropic from '@anthropic-ai/sdk'

const stop = new AbortController()
process.once('SIGTERM', () => stop.abort())
const client = new Anthropic({ apiKey: null, authToken: null })
await client.beta.environments.work
  .worker({
    environmentId: process.env['ANTHROPIC_ENVIRONMENT_ID'] ?? '',
    environmentKey: process.env['ANTHROPIC_ENVIRONMENT_KEY'] ?? '',
    workdir: process.argv[2] ?? '',
    signal: stop.signal,
  })
  .run()
process.exit()
