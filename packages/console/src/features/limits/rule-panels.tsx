/** Rules of the workspace, to look at. */
import { useQuery } from '@tanstack/react-query'
import { Loaded } from '../../components/loaded.tsx'
import { Quiet } from '../../components/layout.tsx'
import { Panel, PanelEmpty } from '../../components/panel.tsx'
import type { TableColumn } from '../../components/table.tsx'
import { Table } from '../../components/table.tsx'
import { Time } from '../../components/figures.tsx'
import type { Hold } from '../../lib/api/types.ts'
import { useIsAdmin } from '../../lib/rights.ts'
import type { AllowedRow, KeptRow } from './rules.ts'
import { allowedRows, holdsQuery, keptBy, keptRows, retentionQuery, rulesQuery } from './rules.ts'
import { ruleWords as own } from './rule-words.ts'

export function RulePanels() {
  const isAdmin = useIsAdmin()
  return (
    <>
      <AllowedPanel />
      {isAdmin && <KeptPanel />}
      {isAdmin && <HoldPanel />}
    </>
  )
}

const Patterns = ({ of }: { of: readonly string[] | null }) => {
  if (of === null) return <Quiet>{own.allowed.all}</Quiet>
  return of.length === 0 ? own.allowed.nothing : of.join(', ')
}

const allowedColumns: TableColumn<AllowedRow>[] = [
  {
    name: own.allowed.kind,
    width: 130,
    isStrong: true,
    show: ({ kind }) => own.allowed.names[kind],
  },
  { name: own.allowed.operator, show: ({ operator }) => <Patterns of={operator} /> },
  { name: own.allowed.workspace, show: ({ workspace }) => <Patterns of={workspace} /> },
]

function AllowedPanel() {
  const query = useQuery(rulesQuery)
  return (
    <Panel title={own.allowed.title} beside={own.allowed.beside}>
      <Loaded query={query} rows={4}>
        {(rules) => (
          <Table
            label={own.allowed.title}
            columns={allowedColumns}
            rows={allowedRows(rules)}
            keyOf={({ kind }) => kind}
          />
        )}
      </Loaded>
    </Panel>
  )
}

const keptColumns: TableColumn<KeptRow>[] = [
  { name: own.kept.kind, isStrong: true, show: ({ kind }) => own.kept.names[kind] },
  {
    name: own.kept.days,
    width: 130,
    isNumber: true,
    show: ({ days }) => days ?? <Quiet>{own.kept.forever}</Quiet>,
  },
  { name: own.kept.due, width: 130, isNumber: true, show: ({ due }) => due },
  { name: own.kept.held, width: 110, isNumber: true, from: 'phone', show: ({ held }) => held },
]

function KeptPanel() {
  const query = useQuery(retentionQuery)
  return (
    <Panel title={own.kept.title} beside={own.kept.beside}>
      <Loaded query={query} rows={5}>
        {(retention) => (
          <Table
            label={own.kept.title}
            columns={keptColumns}
            rows={keptRows(retention)}
            keyOf={({ kind }) => kind}
          />
        )}
      </Loaded>
    </Panel>
  )
}

const holdColumns: TableColumn<Hold>[] = [
  { name: own.holds.kept, isStrong: true, show: keptBy },
  { name: own.holds.reason, show: ({ reason }) => reason },
  {
    name: own.holds.by,
    width: 170,
    from: 'drawer',
    show: ({ created_by: by }) => by?.name ?? by?.type,
  },
  {
    name: own.holds.at,
    width: 130,
    isNumber: true,
    from: 'phone',
    show: ({ created_at: at }) => <Time at={at} />,
  },
]

function HoldPanel() {
  const query = useQuery(holdsQuery)
  return (
    <Panel title={own.holds.title} beside={own.holds.beside}>
      <Loaded query={query} rows={1}>
        {(holds) =>
          holds.length === 0 ? (
            <PanelEmpty>{own.holds.none}</PanelEmpty>
          ) : (
            <Table
              label={own.holds.title}
              columns={holdColumns}
              rows={holds}
              keyOf={({ id }) => id}
            />
          )
        }
      </Loaded>
    </Panel>
  )
}
