/** Posts one message and streams its turn, in one request. [sessions/messages] */
import type { Dialect } from '@steward/protocol/dialects.ts'
import type { UserContent } from '@steward/protocol/content.ts'
import type { Clock } from '@steward/base/time.ts'
import type { Bus } from '../../ground/bus/bus.ts'
import type { Database } from '../../ground/database/database.ts'
import { readHead } from '../log/head.ts'
import type { TailItem } from '../log/tail.ts'
import { tailLog } from '../log/tail.ts'
import type { RouteReply } from '../../ground/http/reply.ts'
import { streamReply } from '../../ground/http/reply.ts'
import { sessionStore } from '../rows/sessions.ts'
import { postInUnits } from './post.ts'
import { isKept, streamTexts } from './read.ts'

export async function postMessage(
  { db, bus }: { db: Database; bus: Bus },
  tenant: string,
  sessionId: string,
  { content, clock, dialect }: { content: UserContent[]; clock: Clock; dialect: Dialect },
): Promise<RouteReply> {
  const { read } = db
  await sessionStore(read).row(tenant, sessionId)
  const after = (await readHead(read, tenant, sessionId)).next_seq
  const left = new AbortController()
  const view = { chunks: true, deltas: [], dialect }
  const options = { after, extensions: true, dialect, signal: left.signal }
  const tailed = tailLog({ read, bus }, tenant, sessionId, options)
  try {
    const ref = { tenant, session: sessionId, clock }
    const posted = await postInUnits(db, ref, [{ type: 'user.message', content }])
    const id = posted[0]?.id ?? ''
    return streamReply((reader) => {
      if (reader.aborted) left.abort()
      else reader.addEventListener('abort', () => left.abort(), { once: true })
      return streamTexts(tailed, sessionId, view, endOf(id))
    })
  } catch (error) {
    await tailed.return(undefined)
    throw error
  }
}

/** True for the idle event that ends this message's turn, and for any event after which no such event can come. */
function endOf(messageId: string): (each: TailItem) => boolean {
  let begun = false
  return (each) => {
    if (each.kind !== 'kept') return false
    if (each.row.id === messageId) begun = true
    if (begun && each.row.type === 'session.status_idle') return true
    const gone =
      each.row.type === 'system.user_message_cancelled' && each.row.data.includes(messageId)
    return gone || isKept(each, 'session.status_terminated', 'session.deleted')
  }
}
