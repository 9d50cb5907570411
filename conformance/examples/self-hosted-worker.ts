/** A worker that serves an environment until it is stopped. */
import Anthropic from '@anthropic-ai/sdk'
import { selfHosted } from './self-hosted.ts'

/** `workdir`: the folder of the worker's tools. */
export async function selfHostedWorker(client: Anthropic, workdir: string): Promise<string> {
  const at = await selfHosted(client, 'worker-environment')
  const bare = new Anthropic({ baseURL: client.baseURL, apiKey: null, authToken: null })
  const stop = new AbortController()
  const worker = bare.beta.environments.work.worker({
    ...{ environmentId: at.environment, environmentKey: at.key },
    ...{ workdir, signal: stop.signal, maxIdleMs: 200 },
  })
  const running = worker.run()
  const answer = await at.ask('run: echo made by a worker > made; cat made')
  stop.abort()
  await running
  await at.leave()
  return answer
}
