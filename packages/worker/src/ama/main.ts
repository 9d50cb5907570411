/** Runs inside the sandbox: the unmodified official worker, for the one claim that its variables name. */
import { existsSync } from 'node:fs'
import Anthropic from '@anthropic-ai/sdk'

const lookEveryMs = 200
const [stopFile, idleMs] = process.argv.slice(2)
const stop = new AbortController()
if (stopFile !== undefined)
  setInterval(() => {
    if (existsSync(stopFile)) stop.abort()
  }, lookEveryMs).unref()

const client = new Anthropic({ apiKey: null, authToken: null })
const { work } = client.beta.environments
const worker = work.worker({
  workdir: process.cwd(),
  maxIdleMs: Number(idleMs),
  signal: stop.signal,
})
const environmentId = process.env['ANTHROPIC_ENVIRONMENT_ID'] ?? ''
const environmentKey = process.env['ANTHROPIC_ENVIRONMENT_KEY'] ?? ''
if (process.env['ANTHROPIC_WORK_ID']) await worker.handleItem()
else {
  const items = work.poller({
    environmentId,
    environmentKey,
    signal: stop.signal,
    drain: true,
    autoStop: false,
  })
  for await (const item of items) {
    const { secret } = item as { secret?: string | null }
    const workSecret = secret ? { workSecret: secret } : {}
    await worker.handleItem({
      workId: item.id,
      environmentId,
      sessionId: item.data.id,
      ...workSecret,
    })
    break
  }
}
