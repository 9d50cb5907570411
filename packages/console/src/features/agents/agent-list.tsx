import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ArchivedLine } from '../../components/archived-line.tsx'
import { Time } from '../../components/figures.tsx'
import { Empty } from '../../components/notices.tsx'
import { RecordLink } from '../../components/record-link.tsx'
import { RecordTable } from '../../components/record-table.tsx'
import { Status } from '../../components/status.tsx'
import type { TableColumn } from '../../components/table.tsx'
import type { Agent } from '../../lib/api/types.ts'
import { listStateOf } from '../../lib/list-state.ts'
import { agentsQuery } from './agents.ts'
import { draftOf, modelIdOf, policyOf } from './draft.ts'
import { formTools } from './tools-field.tsx'
import { agentWords as own } from './words.ts'

const columns: readonly TableColumn<Agent>[] = [
  {
    name: own.columns.name,
    isStrong: true,
    show: ({ id, name }) => (
      <RecordLink to="/agents/$agentId" params={{ agentId: id }}>
        {name}
      </RecordLink>
    ),
  },
  { name: own.columns.model, width: 220, from: 'phone', show: ({ model }) => modelIdOf(model) },
  { name: own.columns.tools, from: 'split', show: (agent) => toolsOf(agent) },
  {
    name: own.columns.version,
    width: 100,
    isNumber: true,
    show: ({ version, archived_at }) =>
      archived_at === null ? version : <Status tone="idle">{own.archived}</Status>,
  },
  {
    name: own.columns.updated,
    width: 100,
    isNumber: true,
    show: ({ updated_at }) => <Time at={updated_at} />,
  },
]

const toolsOf = (agent: Agent): string => {
  const draft = draftOf(agent)
  const names = [
    ...formTools.filter((tool) => policyOf(draft, tool) !== 'off'),
    ...agent.tools.flatMap((tool) => (tool.type === 'custom' ? [tool.name] : [])),
    ...agent.mcp_servers.map(({ name }) => name),
  ]
  return names.length === 0 ? '–' : names.join(', ')
}

const idOf = ({ id }: Agent): string => id

/** `create` stands where no agent is. */
export function AgentList({
  onOpen,
  create,
}: {
  onOpen: (agent: Agent) => void
  create: React.ReactNode
}) {
  const [withArchived, setWithArchived] = useState(false)
  const query = useInfiniteQuery(agentsQuery(withArchived))
  return (
    <>
      <ArchivedLine isOn={withArchived} onChange={setWithArchived} />
      <RecordTable
        label={own.title}
        list={listStateOf(query)}
        columns={columns}
        keyOf={idOf}
        onOpen={onOpen}
        empty={
          <Empty
            action={create}
            request={`await client.beta.agents.create({\n  name: 'reviewer',\n  model: 'offline',\n  tools: [{ type: 'agent_toolset_20260401' }],\n})`}
          >
            {own.none}
          </Empty>
        }
      />
    </>
  )
}
