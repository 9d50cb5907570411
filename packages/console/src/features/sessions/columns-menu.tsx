import { lazy, Suspense, useState } from 'react'
import { Button } from '../../components/button.tsx'
import { WhereBelow } from '../../components/layout.tsx'
import { words } from '../../lib/words.ts'
import { useColumns } from './columns.tsx'

const Menu = lazy(async () => ({ default: (await import('../../components/menu.tsx')).Menu }))

const own = words.sessions

/** Which columns the list shows. It stays open, so that several can be chosen. */
export function ColumnsMenu() {
  const { choices, reset } = useColumns()
  const [isAsked, setAsked] = useState(false)
  const face = (
    <Button size="small" kind="plain" onClick={() => setAsked(true)}>
      {own.columnsButton}
    </Button>
  )
  return (
    <Suspense fallback={face}>
      <Menu
        label={own.columnsButton}
        look="words"
        isOpenAtFirst={isAsked}
        trigger={own.columnsButton}
        items={[
          ...choices.map(({ name, from, isShown, turn }) => ({
            label: name,
            beside: from && <WhereBelow width={from}>{own.onWider}</WhereBelow>,
            isChecked: isShown,
            run: turn,
          })),
          'line',
          {
            label: own.usualColumns,
            offBecause: reset ? undefined : own.areUsual,
            run: () => reset?.(),
          },
        ]}
      />
    </Suspense>
  )
}
