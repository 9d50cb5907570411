/** What lies over the page: dialog, menu, toast, palette. */
import { useRef, useState } from 'react'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Row } from '../../components/layout.tsx'
import { Menu } from '../../components/menu.tsx'
import type { PaletteGroup } from '../../components/palette.tsx'
import { PaletteList } from '../../components/palette.tsx'
import { Float, Spec, Specimen, Stage } from '../../components/specimen.tsx'
import { ToastFace } from '../../components/toaster.tsx'
import { say } from '../../lib/toasts.ts'

const nothing = () => {}

const found: readonly PaletteGroup[] = [
  { name: 'This page', items: [{ id: 'x1', label: 'Fork here', keys: 'f', run: nothing }] },
  { name: 'Go to', items: [{ id: 'x2', label: 'Sessions', keys: 'g s', run: nothing }] },
  {
    name: 'Sessions',
    items: [{ id: 'x3', label: 'fix the flaky test', beside: 'reviewer', run: nothing }],
  },
]

export function Surfaces() {
  const [isOpen, setOpen] = useState(false)
  const keep = useRef<HTMLButtonElement>(null)
  const close = () => setOpen(false)
  return (
    <Spec name="Dialog, menu, toast, palette">
      <Specimen caption="dialog: says what will happen; the safe answer has the focus" size="third">
        <Row>
          <Button kind="danger" onClick={() => setOpen(true)}>
            Revoke key
          </Button>
        </Row>
        {isOpen && (
          <Dialog
            title="Revoke the key ci-pipeline"
            onClose={close}
            firstFocus={keep}
            actions={
              <>
                <Button ref={keep} onClick={close}>
                  Keep it
                </Button>
                <Button kind="danger" onClick={close}>
                  Revoke key
                </Button>
              </>
            }
          >
            <p>
              It was used 2 min ago, and 61 times today. Programs that hold it get 401 from now on.
            </p>
          </Dialog>
        )}
      </Specimen>
      <Specimen caption="menu: what is off says why; checks stay open" size="third">
        <Row>
          <Menu
            label="An example of a menu"
            trigger={<span>More ⌄</span>}
            items={[
              { label: 'Fork here', beside: 'f', run: nothing },
              { label: 'Copy id', beside: 'c', run: nothing },
              'line',
              { label: 'Interrupt', offBecause: 'not running', run: nothing },
              { label: 'Delete session', isDanger: true, run: nothing },
            ]}
          />
          <CheckedMenu />
        </Row>
      </Specimen>
      <Specimen caption="toast: what is done goes by itself, what failed stays" size="third">
        <Row isWrapped>
          <Button onClick={() => say({ kind: 'done', text: '2 sessions archived' })}>
            Show one
          </Button>
          <Button onClick={() => say({ kind: 'failed', text: 'The version was not saved.' })}>
            Show a failure
          </Button>
        </Row>
        <ToastFace
          note={{
            kind: 'done',
            text: '2 sessions archived',
            action: { label: 'Undo', run: nothing },
          }}
          onClose={nothing}
        />
        <ToastFace
          note={{ kind: 'failed', text: 'Version 13 was not saved: somebody saved it before you.' }}
          onClose={nothing}
        />
      </Specimen>
      <Palettes />
    </Spec>
  )
}

/** Drawn when it is asked for: each takes the focus. */
function Palettes() {
  const [shown, setShown] = useState<'found' | 'searching' | 'none' | 'partial'>()
  const states = {
    found: { typed: 'f', groups: found },
    searching: { typed: 'flaky', groups: [], isSearching: true },
    none: { typed: 'xyzzy', groups: [] },
    partial: {
      typed: 'f',
      groups: found,
      notes: ['Files: the newest 200 are searched.', 'Vaults could not be searched: not now'],
    },
  }
  return (
    <Specimen
      caption="palette: what this page can do, then places, then things by name"
      size="half"
    >
      <Row isWrapped>
        <Button onClick={() => setShown('found')}>Found</Button>
        <Button onClick={() => setShown('searching')}>Searching</Button>
        <Button onClick={() => setShown('none')}>Nothing</Button>
        <Button onClick={() => setShown('partial')}>Partial</Button>
      </Row>
      {shown && (
        <Stage>
          <Float>
            <PaletteList {...states[shown]} onTyped={nothing} onRun={nothing} />
          </Float>
        </Stage>
      )}
    </Specimen>
  )
}

function CheckedMenu() {
  const [isShown, setShown] = useState(true)
  return (
    <Menu
      label="Columns"
      look="words"
      trigger="Columns"
      items={[
        { label: 'Tokens', isChecked: isShown, run: () => setShown(!isShown) },
        { label: 'Turns', isChecked: false, run: nothing },
      ]}
    />
  )
}
