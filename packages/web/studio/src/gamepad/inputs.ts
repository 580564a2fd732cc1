// Axes and buttons of a gamepad, as a mapping reads them.

import type { GamepadBinding } from '../wire/wire';

/** Part of an axis about its middle that counts as none, where the mapping says nothing. [-] */
export const DEAD_ZONE = 0.15;
/** Deflection from which a button counts as pressed: analogue ones rest near zero. [-] */
const PRESSED = 0.1;

/** What a gamepad says now. */
export interface Inputs {
  /** Deflections, -1 to 1. [-] */
  axes: readonly number[];
  /** How far buttons are pressed, 0 to 1. [-] */
  buttons: readonly number[];
}

export const NO_INPUTS: Inputs = { axes: [], buttons: [] };

export function inputsOf(pad: Gamepad): Inputs {
  return { axes: [...pad.axes], buttons: pad.buttons.map((button) => button.value) };
}

/** The gamepad that is used: the first one. */
export function firstGamepad(): Gamepad | null {
  return navigator.getGamepads().find((pad) => pad?.connected) ?? null;
}

/** How far the input of a binding is deflected, -1 to 1; beyond its dead zone it begins at zero. [-] */
export function deflection(binding: GamepadBinding, { axes, buttons }: Inputs): number {
  if (binding.button !== undefined) {
    const value = buttons[binding.button] ?? 0;
    return value > PRESSED ? value : 0;
  }
  const value = axes[binding.axis ?? -1] ?? 0;
  const zone = binding.dead_zone ?? DEAD_ZONE;
  const beyond = (Math.abs(value) - zone) / (1 - zone);
  return beyond > 0 ? Math.sign(value) * Math.min(beyond, 1) : 0;
}

/** The input that is deflected most, as a binding names it; `null` where none is. */
export function deflected(inputs: Inputs): Pick<GamepadBinding, 'axis' | 'button'> | null {
  const all: Pick<GamepadBinding, 'axis' | 'button'>[] = [
    ...inputs.axes.map((_, axis) => ({ axis })),
    ...inputs.buttons.map((_, button) => ({ button })),
  ];
  const most = all.reduce<{ input: (typeof all)[number] | null; by: number }>(
    (best, input) => {
      const by = Math.abs(deflection(input, inputs));
      return by > best.by ? { input, by } : best;
    },
    { input: null, by: 0 },
  );
  return most.input;
}
