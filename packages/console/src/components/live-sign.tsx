import { connection } from '../lib/stream/connection.ts'
import type { ConnectionState } from '../lib/stream/connection.ts'
import { useStore } from '../lib/store.ts'
import { formatWhole } from '../lib/format/times.ts'
import { words } from '../lib/words.ts'

const signs: Record<ConnectionState['state'], string> = {
  live: 'bg-good',
  reconnecting: 'border-[1.5px] border-n9',
  offline: 'bg-failed rounded-[1px]',
}

/** Whether what is shown is live, and since when not. */
export const LiveSign = () => <LiveState of={useStore(connection)} />

export const LiveState = ({ of: { state, heardAt } }: { of: ConnectionState }) => (
  <output
    title={`${words.live.last}: ${formatWhole(new Date(heardAt))}`}
    className={`relative inline-flex shrink-0 items-center gap-1.5 text-small ${state === 'offline' ? 'text-failed' : 'text-n9'}`}
  >
    <span aria-hidden="true" className={`size-1.5 rounded-full ${signs[state]}`} />
    <span className={state === 'live' ? 'max-phone:sr-only' : ''}>{words.live[state]}</span>
  </output>
)
