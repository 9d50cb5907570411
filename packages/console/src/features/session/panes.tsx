/** Views of a session beside its conversation: its tools, threads, usage and what it works with. */
import { useMemo } from 'react'
import { Link } from '@tanstack/react-router'
import { Button } from '../../components/button.tsx'
import { Duration, Id, Time } from '../../components/figures.tsx'
import { MiniTable } from '../../components/inspector.tsx'
import { ListChoice, Quiet, Stack } from '../../components/layout.tsx'
import { Facts } from '../../components/session-layout.tsx'
import { Status } from '../../components/status.tsx'
import type { Session, ShortSession } from '../../lib/api/types.ts'
import { words } from '../../lib/words.ts'
import type { FollowedLog } from './log.ts'
import { Forks, Origin } from './origin.tsx'
import { threadsOf } from './threads.ts'
import { toolsOf } from './tool-figures.ts'
import { originWords } from './words.ts'

const { panes: own } = words.session

export const OnlyLoaded = ({ log }: { log: FollowedLog }) =>
  log.hasEarlier ? (
    <Stack gap="normal">
      <Quiet isSmall>{own.onlyLoaded}</Quiet>
      <div>
        <Button size="small" onClick={log.loadEarlier}>
          {words.session.earlier}
        </Button>
      </div>
    </Stack>
  ) : null

/** How often each tool was called, how often it failed, and how long it usually takes. */
export function ToolsPane({ log }: { log: FollowedLog }) {
  const tools = useMemo(() => toolsOf(log.events), [log.events])
  if (tools.length === 0) return <Quiet>{own.noTools}</Quiet>
  return (
    <Stack>
      <MiniTable
        label={own.tools}
        heads={[own.tool, own.calls, own.failed, own.median]}
        rows={tools.map(({ name, calls, failed, medianMs }) => ({
          key: name,
          cells: [
            name,
            calls,
            failed === 0 ? (
              '–'
            ) : (
              <Status key="failed" tone="failed">
                {failed}
              </Status>
            ),
            medianMs === undefined ? '–' : <Duration key="median" ms={medianMs} />,
          ],
        }))}
      />
      <OnlyLoaded log={log} />
    </Stack>
  )
}

export function ThreadsPane({
  log,
  onThread,
}: {
  log: FollowedLog
  onThread: (id: string) => void
}) {
  const threads = useMemo(() => threadsOf(log.events), [log.events])
  if (threads.length === 0) return <Quiet>{own.noThreads}</Quiet>
  return (
    <div>
      {threads.map(({ id, name, isRunning }) => (
        <ListChoice
          key={id}
          isChosen={false}
          onChoose={() => onThread(id)}
          end={
            <Status tone={isRunning ? 'running' : 'idle'}>
              {isRunning ? words.status.running : words.status.idle}
            </Status>
          }
        >
          {name}
        </ListChoice>
      ))}
    </div>
  )
}

/** What the session works with, and who began it. */
export function ResourcesPane({
  session,
  short,
}: {
  session: Session
  short: ShortSession | undefined
}) {
  const { agent, environment_id, vault_ids, resources } = session
  return (
    <Stack>
      <Facts
        facts={[
          [
            words.session.agent,
            <Link key="agent" to="/agents/$agentId" params={{ agentId: agent.id }}>
              {agent.name}@{agent.version}
            </Link>,
          ],
          [words.session.environment, <Id key="environment" of={environment_id} />],
          [own.madeBy, makerOf(short)],
          [own.madeAt, <Time key="made" at={session.created_at} />],
          ...(session.forked_from
            ? [[originWords.from, <Origin key="origin" of={session.forked_from} />] as const]
            : []),
          ...vault_ids.map((id) => [own.vault, <Id key={id} of={id} />] as const),
          ...resources.map((resource) => [resource.type, nameOfResource(resource)] as const),
        ]}
      />
      {resources.length === 0 && <Quiet>{own.noResources}</Quiet>}
      <Forks session={session.id} />
    </Stack>
  )
}

const makerOf = (short: ShortSession | undefined): string => {
  const maker = short?.created_by
  if (!maker) return '–'
  return 'name' in maker && typeof maker.name === 'string' ? maker.name : (maker.id ?? maker.type)
}

const nameOfResource = (resource: object): string => {
  for (const field of ['mount_path', 'url', 'path', 'id'] as const)
    if (field in resource)
      return String(Object.entries(resource).find(([key]) => key === field)?.[1])
  return ''
}
