/** A dispatcher that claims queued work items and starts a worker for each. The worker knows only its item. */
import Anthropic from '@anthropic-ai/sdk'
import { selfHosted } from './self-hosted.ts'

/** `workdir`: the folder of the workers' tools. */
export async function workerDispatch(client: Anthropic, workdir: string) {
  const at = await selfHosted(client, 'dispatch-environment')
  const bare = new Anthropic({ baseURL: client.baseURL, apiKey: null, authToken: null })
  const { work: queue } = bare.beta.environments
  const asked = at.ask('run: echo dispatched > item; cat item')
  const handled: string[] = []
  while (handled.length === 0) {
    const items = queue.poller({
      ...{ environmentId: at.environment, environmentKey: at.key },
      ...{ drain: true, blockMs: 999, autoStop: false },
    })
    for await (const item of items) {
      // The worker gets only the item's own token, which opens this session and no other.
      await queue.worker({ workdir, maxIdleMs: 200 }).handleItem({
        ...{ workId: item.id, environmentId: at.environment, sessionId: item.data.id },
        ...(item.secret === null ? {} : { workSecret: item.secret }),
      })
      handled.push(item.data.id)
    }
  }
  const answer = await asked
  const { depth } = await client.beta.environments.work.stats(at.environment)
  await at.leave()
  return { answer, depth, isHandled: handled.includes(at.session) }
}
