/** What the workspace may spend, store and ask: what holds, what is used of it, and who has set it. */
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { Button } from '../../components/button.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Quiet } from '../../components/layout.tsx'
import { Panel, PanelEmpty } from '../../components/panel.tsx'
import { Meter } from '../../components/plot.tsx'
import { SettingsPage } from '../../components/settings-page.tsx'
import type { TableColumn } from '../../components/table.tsx'
import { Table } from '../../components/table.tsx'
import type { Quota, SpendLimit, WorkspaceRateLimit } from '../../lib/api/types.ts'
import { useIsAdmin, useNoAdminReason } from '../../lib/rights.ts'
import type { LimitEdit } from './limits.ts'
import { quotasQuery, ratesQuery, spendingQuery, spendLimitsQuery } from './limits.ts'
import { amountOf, quotaEdit } from './quotas.ts'
import { mostOf, rateEdit, rateOf } from './rates.ts'
import { RulePanels } from './rule-panels.tsx'
import type { PeriodSpend } from './spend.ts'
import { dollars, spendEdit, spendRows } from './spend.ts'
import { limitWords as own } from './words.ts'

const LimitDialog = lazy(async () => ({
  default: (await import('./limit-dialog.tsx')).LimitDialog,
}))

type PanelProps = { onEdit: (edit: LimitEdit) => void }

/** `workspace`: the id, undefined while nobody knows. */
export function LimitsPage({ workspace }: { workspace: string | undefined }) {
  const [edit, setEdit] = useState<LimitEdit>()
  return (
    <SettingsPage title={own.title}>
      <SpendPanel onEdit={setEdit} />
      <QuotaPanel onEdit={setEdit} />
      {workspace !== undefined && <RatePanel workspace={workspace} onEdit={setEdit} />}
      <RulePanels />
      <Suspense>{edit && <LimitDialog edit={edit} onClose={() => setEdit(undefined)} />}</Suspense>
    </SettingsPage>
  )
}

/** The last column: the button that sets the limit. */
function useSetColumn<Row>(
  nameOf: (row: Row) => string,
  onSet: (row: Row) => void,
): TableColumn<Row> {
  const noAdmin = useNoAdminReason()
  return {
    name: own.columns.actions,
    width: 72,
    isNumber: true,
    isNameHidden: true,
    show: (row) => (
      <Button
        kind="plain"
        size="small"
        title={own.setOf(nameOf(row))}
        offBecause={noAdmin}
        onClick={() => onSet(row)}
      >
        {own.set}
      </Button>
    ),
  }
}

const shareOf = (used: number, limit: number): number => (limit === 0 ? 1 : used / limit)

function SpendPanel({ onEdit }: PanelProps) {
  const spending = useQuery(spendingQuery)
  const { data: set = [] } = useQuery({ ...spendLimitsQuery, enabled: useIsAdmin() })
  const operators = ({ period }: PeriodSpend): SpendLimit | undefined =>
    set.find((each) => each.period === period && each.set_by === 'operator')
  const nameOf = ({ period }: PeriodSpend): string => own.spend.periods[period]
  const action = useSetColumn(nameOf, (row: PeriodSpend) => onEdit(spendEdit(row, operators(row))))
  const columns: TableColumn<PeriodSpend>[] = [
    { name: own.columns.period, isStrong: true, show: nameOf },
    {
      name: own.columns.spent,
      width: 88,
      isNumber: true,
      show: ({ holds }) => (holds ? dollars(holds.period_to_date_spend) : own.unknown),
    },
    {
      name: own.columns.value,
      width: 110,
      isNumber: true,
      show: ({ holds }) => (holds?.amount ? dollars(holds.amount) : <Quiet>{own.none}</Quiet>),
    },
    {
      name: own.columns.share,
      width: 170,
      from: 'wide',
      show: (row) => {
        const { amount, period_to_date_spend: spent } = row.holds ?? {}
        return (
          typeof amount === 'string' && (
            <Meter label={nameOf(row)} share={shareOf(Number(spent), Number(amount))} />
          )
        )
      },
    },
    {
      name: own.columns.by,
      width: 130,
      from: 'drawer',
      show: ({ holds }) => holds && own.sources[holds.set_by],
    },
    action,
  ]
  return (
    <Panel title={own.spend.title} beside={own.spend.beside}>
      <Loaded query={spending} rows={2}>
        {(holding) => (
          <Table
            label={own.spend.title}
            columns={columns}
            rows={spendRows(holding, set)}
            keyOf={nameOf}
          />
        )}
      </Loaded>
    </Panel>
  )
}

function QuotaPanel({ onEdit }: PanelProps) {
  const query = useQuery(quotasQuery)
  const nameOf = ({ name }: Quota): string => own.quotas.names[name]
  const action = useSetColumn(nameOf, (quota: Quota) => onEdit(quotaEdit(quota)))
  const columns: TableColumn<Quota>[] = [
    {
      name: own.columns.quota,
      isStrong: true,
      isWrapped: true,
      show: nameOf,
    },
    {
      name: own.columns.used,
      width: 110,
      isNumber: true,
      from: 'phone',
      show: (quota) => (quota.used === null ? own.unknown : amountOf(quota, quota.used)),
    },
    {
      name: own.columns.value,
      width: 110,
      isNumber: true,
      show: (quota) =>
        quota.value === null ? <Quiet>{own.none}</Quiet> : amountOf(quota, quota.value),
    },
    {
      name: own.columns.share,
      width: 170,
      from: 'wide',
      show: (quota) =>
        quota.value !== null &&
        quota.used !== null && (
          <Meter label={nameOf(quota)} share={shareOf(quota.used, quota.value)} />
        ),
    },
    {
      name: own.columns.by,
      width: 130,
      from: 'drawer',
      show: ({ source, value }) => value !== null && own.sources[source],
    },
    action,
  ]
  return (
    <Panel title={own.quotas.title} beside={own.quotas.beside}>
      <Loaded query={query} rows={10}>
        {(quotas) => (
          <Table label={own.quotas.title} columns={columns} rows={quotas} keyOf={nameOf} />
        )}
      </Loaded>
    </Panel>
  )
}

function RatePanel({ workspace, onEdit }: PanelProps & { workspace: string }) {
  const noAdmin = useNoAdminReason()
  const query = useQuery({ ...ratesQuery(workspace), enabled: useIsAdmin() })
  const nameOf = ({ group }: WorkspaceRateLimit): string => own.rates.names[group.type]
  const action = useSetColumn(nameOf, (limit: WorkspaceRateLimit) => {
    const [rate] = limit.limits
    if (rate) onEdit(rateEdit(limit, rate))
  })
  const columns: TableColumn<WorkspaceRateLimit>[] = [
    { name: own.columns.requests, isStrong: true, show: nameOf },
    {
      name: own.columns.value,
      width: 150,
      isNumber: true,
      show: ({ limits }) => limits.map(rateOf).join(', '),
    },
    {
      name: own.columns.allowed,
      width: 150,
      isNumber: true,
      from: 'split',
      show: ({ limits }) => limits.map(mostOf).join(', '),
    },
    {
      name: own.columns.by,
      width: 130,
      from: 'drawer',
      show: ({ limits: [rate] }) => rate && own.sources[rate.source.type],
    },
    action,
  ]
  return (
    <Panel title={own.rates.title} beside={own.rates.beside}>
      {noAdmin === undefined ? (
        <Loaded query={query} rows={4}>
          {(rates) =>
            rates.length === 0 ? (
              <PanelEmpty>{own.rates.off}</PanelEmpty>
            ) : (
              <Table label={own.rates.title} columns={columns} rows={rates} keyOf={nameOf} />
            )
          }
        </Loaded>
      ) : (
        <PanelEmpty>{own.adminsAlone}</PanelEmpty>
      )}
    </Panel>
  )
}
