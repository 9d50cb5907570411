/**
 * The open streams of this process by id, and changes of streams that another process has: the request goes over the
 * bus to all processes, and the one with the stream answers. [stream/workspace/change]
 */
import { randomUUID } from 'node:crypto'
import type { Clock } from '@steward/base/time.ts'
import { WorkspaceStreamChange, WorkspaceStreamShown } from '@steward/protocol/workspace-stream.ts'
import { z } from 'zod'
import type { Bus } from '../../../ground/bus/bus.ts'
import { isMissed } from '../../../ground/bus/bus.ts'
import { newId } from '../../../ground/core/text/ids.ts'
import { notFound, PlatformError } from '../../../ground/core/errors.ts'

/** `actor`: the key or the person that has opened it. */
export type StreamOwner = { tenant: string; actor: string }
type ApplyChange = (change: WorkspaceStreamChange) => Promise<WorkspaceStreamShown>

const answerMs = 1_500

const Asked = z.object({
  nonce: z.string(),
  id: z.string(),
  tenant: z.string(),
  actor: z.string(),
  change: WorkspaceStreamChange,
})
const Answered = z.object({
  shown: WorkspaceStreamShown.optional(),
  refusal: z
    .object({ kind: z.enum(['invalid_request', 'not_found']), message: z.string() })
    .optional(),
})

const askTopic = 'streams'
const answerTopic = (nonce: string): string => `stream-answers:${nonce}`

/** What a change was refused for, for the caller in another process. */
function refusalOf(error: unknown): z.infer<typeof Answered>['refusal'] {
  if (!(error instanceof PlatformError)) return undefined
  const kind = error.kind === 'not_found' ? 'not_found' : 'invalid_request'
  return { kind, message: error.message }
}

export function openStreams({ bus, clock }: { bus: Bus; clock: Clock }) {
  const open = new Map<string, StreamOwner & { apply: ApplyChange }>()
  const own = newId('stream')

  const here = (id: string, { tenant, actor }: StreamOwner) => {
    const found = open.get(id)
    return found?.tenant === tenant && found.actor === actor ? found : undefined
  }

  const quiet = bus.subscribe(askTopic, (message) => {
    if (isMissed(message)) return
    const asked = Asked.safeParse(message).data
    if (!asked || asked.nonce === '') return
    const found = here(asked.id, asked)
    if (!found) return
    const answer = (body: z.infer<typeof Answered>) =>
      bus.publish(answerTopic(asked.nonce), body as Record<string, unknown>)
    found.apply(asked.change).then(
      (shown) => answer({ shown }),
      (error: unknown) => answer({ refusal: refusalOf(error) }),
    )
  })

  async function askOthers(
    id: string,
    owner: StreamOwner,
    change: WorkspaceStreamChange,
  ): Promise<WorkspaceStreamShown> {
    const nonce = randomUUID()
    const answered = new AbortController()
    let answer: z.infer<typeof Answered> | undefined
    const leave = bus.subscribe(answerTopic(nonce), (message) => {
      answer = Answered.safeParse(message).data
      answered.abort('answered')
    })
    try {
      bus.publish(askTopic, { nonce, id, ...owner, change })
      await clock.sleep(answerMs, answered.signal)
    } finally {
      leave()
    }
    if (answer?.refusal) throw new PlatformError(answer.refusal.kind, answer.refusal.message)
    if (!answer?.shown) throw notFound('stream', id)
    return answer.shown
  }

  return {
    /** An id that says which process has the stream. */
    newId: () => own + randomUUID().replaceAll('-', ''),
    /** The returned function removes it. */
    add(id: string, stream: StreamOwner & { apply: ApplyChange }): () => void {
      open.set(id, stream)
      return () => open.delete(id)
    },

    /** Throws not_found for a stream that is not open, or that another caller has opened. */
    async change(
      id: string,
      owner: StreamOwner,
      change: WorkspaceStreamChange,
    ): Promise<WorkspaceStreamShown> {
      const found = here(id, owner)
      if (found) return found.apply(change)
      if (id.startsWith(own)) throw notFound('stream', id)
      return askOthers(id, owner, change)
    },
    close: quiet,
  }
}
