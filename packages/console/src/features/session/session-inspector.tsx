import { Inspector } from '../../components/inspector.tsx'
import type { Session, ShortSession } from '../../lib/api/types.ts'
import { words } from '../../lib/words.ts'
import { ChangesPane } from './changes-pane.tsx'
import { FolderPane } from './folder-pane.tsx'
import { InspectedEvent } from './inspected-event.tsx'
import type { FollowedLog } from './log.ts'
import type { SessionPane } from './place.ts'
import { sessionPanes } from './place.ts'
import { CredentialsPane } from './credentials-pane.tsx'
import { MemoryPane } from './memory-pane.tsx'
import { ResourcesPane, ThreadsPane, ToolsPane } from './panes.tsx'
import { UsagePane } from './usage-pane.tsx'

type SessionInspectorProps = {
  session: Session
  short: ShortSession | undefined
  log: FollowedLog
  pane: SessionPane
  event: string | undefined
  onPane: (pane: SessionPane | undefined) => void
  onThread: (thread: string) => void
  onFork: (seq: number) => void
  onChoose: (event: string) => void
}

export const SessionInspector = (props: SessionInspectorProps) => (
  <Inspector
    label={words.session.details}
    tabs={sessionPanes.map((name) => ({ name, label: words.session.paneNames[name] }))}
    chosen={props.pane}
    onChoose={props.onPane}
    onClose={() => props.onPane(undefined)}
  >
    <Pane {...props} />
  </Inspector>
)

function Pane(props: SessionInspectorProps) {
  const { session, short, log, pane, event, onThread, onFork, onChoose } = props
  switch (pane) {
    case 'event':
      return (
        <InspectedEvent
          key={event}
          session={session.id}
          id={event}
          known={log.known.find(({ id }) => id === event)}
          onFork={onFork}
          {...neighboursOf(log, event)}
          onChoose={onChoose}
        />
      )
    case 'tools':
      return <ToolsPane log={log} />
    case 'files':
      return <FolderPane session={session.id} />
    case 'changes':
      return <ChangesPane session={session.id} turns={short?.turns} />
    case 'threads':
      return <ThreadsPane log={log} onThread={onThread} />
    case 'usage':
      return <UsagePane session={session} short={short} log={log} />
    case 'memory':
      return <MemoryPane session={session} />
    case 'credentials':
      return <CredentialsPane session={session.id} />
    case 'resources':
      return <ResourcesPane session={session} short={short} />
  }
}

/** The events before and behind one, in the part of the log that is shown. */
function neighboursOf({ events }: FollowedLog, event: string | undefined) {
  const at = events.findIndex(({ id }) => id === event)
  return at === -1 ? {} : { before: events[at - 1]?.id, behind: events[at + 1]?.id }
}
