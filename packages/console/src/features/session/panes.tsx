/** Views of a session beside its conversation: its tools, threads, usage and what it works with. */
import { useMemo } from 'react'
import { Link } from '@tanstack/react-router'
import { Button } from '../../components/button.tsx'
import { Cost, Duration, Id, Time, Tokens } from '../../components/figures.tsx'
import { Meter, MiniTable } from '../../components/inspector.tsx'
import { ListChoice, Quiet, Stack } from '../../components/layout.tsx'
import { Facts } from '../../components/session-layout.tsx'
import { Status } from '../../components/status.tsx'
import type { Session, ShortSession } from '../../lib/api/types.ts'
import { formatTokens } from '../../lib/format/numbers.ts'
import { costOf } from '../../lib/session/facts.ts'
import { words } from '../../lib/words.ts'
import type { FollowedLog } from './log.ts'
import { requestsOf } from './requests.ts'
import { threadsOf } from './threads.ts'
import { toolsOf } from './tool-figures.ts'

const { panes: own } = words.session

const OnlyLoaded = ({ log }: { log: FollowedLog }) =>
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

type UsagePaneProps = { session: Session; short: ShortSession | undefined; log: FollowedLog }

/** Tokens of each kind, what they cost, and how full the context is. */
export function UsagePane({ session, short, log }: UsagePaneProps) {
  const { usage } = session
  const written = usage.cache_creation
  const requests = useMemo(() => requestsOf(log.events), [log.events])
  const { used_tokens: used, window_tokens: whole, share } = short?.context ?? noContext
  return (
    <Stack>
      {share !== null && (
        <Meter label={own.context} share={share}>
          {formatTokens(used ?? 0)} {words.session.of} {formatTokens(whole ?? 0)}
        </Meter>
      )}
      <Facts
        facts={[
          [own.input, <Tokens key="in" count={usage.input_tokens} />],
          [own.cacheRead, <Tokens key="read" count={usage.cache_read_input_tokens} />],
          [
            own.cacheWritten,
            <Tokens
              key="written"
              count={written.ephemeral_5m_input_tokens + written.ephemeral_1h_input_tokens}
            />,
          ],
          [own.output, <Tokens key="out" count={usage.output_tokens} />],
          [words.session.cost, <Cost key="cost" dollars={costOf(session)} />],
          [words.session.active, <Duration key="ran" ms={usage.active_seconds * 1_000} />],
        ]}
      />
      {requests.length > 0 && (
        <MiniTable
          label={own.requests}
          heads={[own.model, own.read, own.output, own.took, words.session.cost]}
          rows={requests.map(({ id, model, read, output, tookMs, dollars }) => ({
            key: id,
            cells: [
              model,
              <Tokens key="in" count={read} />,
              <Tokens key="out" count={output} />,
              tookMs === undefined ? '–' : <Duration key="took" ms={tookMs} />,
              <Cost key="cost" dollars={dollars} />,
            ],
          }))}
        />
      )}
      <OnlyLoaded log={log} />
    </Stack>
  )
}

const noContext = { used_tokens: null, window_tokens: null, share: null }

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
          ...vault_ids.map((id) => [own.vault, <Id key={id} of={id} />] as const),
          ...resources.map((resource) => [resource.type, nameOfResource(resource)] as const),
        ]}
      />
      {resources.length === 0 && <Quiet>{own.noResources}</Quiet>}
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
