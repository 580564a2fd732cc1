// Playback: the playhead and the clock that moves it.

export class Player {
  /** Place of the playhead. [s] */
  time = $state(0);
  playing = $state(false);
  looping = $state(false);
  /** Time of the motion over wall time. [-] */
  speed = $state(1);
  /** End of what is played. [s] */
  duration = $state(0);

  private last = 0;

  /** `moved` is told each new time. */
  constructor(private readonly moved: () => void) {}

  /** Plays from the playhead, or from the start where it is at the end. */
  play(): void {
    if (this.playing || this.duration <= 0) return;
    if (this.time >= this.duration - 1e-9) this.time = 0;
    this.playing = true;
    this.last = performance.now();
    requestAnimationFrame(this.tick);
  }

  pause(): void {
    this.playing = false;
  }

  toggle(): void {
    if (this.playing) this.pause();
    else this.play();
  }

  /** Puts the playhead somewhere, within the motion. */
  seek(time: number): void {
    this.time = Math.min(Math.max(time, 0), this.duration);
    this.moved();
  }

  private readonly tick = (now: number): void => {
    if (!this.playing) return;
    const step = (Math.max(0, now - this.last) / 1000) * this.speed;
    this.last = now;
    let time = this.time + step;
    if (time >= this.duration) {
      if (this.looping && this.duration > 0) time %= this.duration;
      else {
        time = this.duration;
        this.playing = false;
      }
    }
    this.time = time;
    this.moved();
    if (this.playing) requestAnimationFrame(this.tick);
  };
}
