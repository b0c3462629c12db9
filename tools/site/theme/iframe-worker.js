// A browser starts no worker from a file. Where the site is opened from a folder, the search runs
// in a frame of its own.
if (location.protocol === "file:") {
  window.Worker = class {
    constructor(url) {
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.title = "search";
      document.body.append(this.frame);
      const inside = this.frame.contentWindow;
      inside.postMessage = (sent) => {
        const data = structuredClone(sent);
        setTimeout(() => this.onmessage?.({ data }));
      };
      const script = inside.document.createElement("script");
      script.src = url;
      this.ready = new Promise((resolve) => { script.onload = resolve; });
      script.onerror = () => this.onerror?.(new Event("error"));
      inside.document.body.append(script);
    }

    postMessage(sent) {
      const data = structuredClone(sent);
      this.ready.then(() => this.frame.contentWindow?.onmessage({ data }));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
