/** Keys that open nothing: for good, or until they are active again. */
import { useInfiniteQuery } from '@tanstack/react-query'
import { Button } from '../../components/button.tsx'
import { Time } from '../../components/figures.tsx'
import { Panel, PanelEmpty } from '../../components/panel.tsx'
import { RecordTable } from '../../components/record-table.tsx'
import type { TableColumn } from '../../components/table.tsx'
import type { RevokedKey } from '../../lib/api/types.ts'
import { listStateOf } from '../../lib/list-state.ts'
import { say } from '../../lib/toasts.ts'
import { revokedQuery, useKeyActivate } from './keys.ts'
import { keyWords as own } from './words.ts'

const idOf = ({ id }: RevokedKey): string => id

const columns: readonly TableColumn<RevokedKey>[] = [
  { name: own.columns.name, isStrong: true, show: ({ name }) => name },
  {
    name: own.columns.key,
    width: 86,
    from: 'drawer',
    show: ({ partial_key_hint: hint }) => <code>{hint}</code>,
  },
  {
    name: own.madeAt,
    width: 74,
    isNumber: true,
    show: ({ created_at: at }) => <Time at={at} />,
  },
]

export function RevokedKeys() {
  const paused = listStateOf(useInfiniteQuery(revokedQuery('inactive')))
  const revoked = listStateOf(useInfiniteQuery(revokedQuery('archived')))
  const activate = useKeyActivate()
  const again: TableColumn<RevokedKey> = {
    name: own.columns.actions,
    width: 104,
    isNumber: true,
    isNameHidden: true,
    show: ({ id, name }) => (
      <Button
        kind="plain"
        size="small"
        title={own.activateOf(name)}
        isBusy={activate.isPending && activate.variables === id}
        onClick={() =>
          activate.mutate(id, {
            onSuccess: () => say({ kind: 'done', text: own.activated(name) }),
            onError: ({ message }) => say({ kind: 'failed', text: message }),
          })
        }
      >
        {own.activate}
      </Button>
    ),
  }
  return (
    <>
      <Panel title={own.pausedTitle} beside={own.pausedBeside}>
        <RecordTable
          label={own.pausedTitle}
          list={paused}
          columns={[...columns, again]}
          keyOf={idOf}
          empty={<PanelEmpty>{own.nonePaused}</PanelEmpty>}
        />
      </Panel>
      <Panel title={own.revokedTitle}>
        <RecordTable
          label={own.revokedTitle}
          list={revoked}
          columns={columns}
          keyOf={idOf}
          empty={<PanelEmpty>{own.noneRevoked}</PanelEmpty>}
        />
      </Panel>
    </>
  )
}
