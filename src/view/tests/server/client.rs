//! A server on a small scene, and a page without a browser.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nalgebra::Vector3;
use quadrille_base::math::SimdLevel;
use quadrille_base::shading::Profile;
use quadrille_base::{Error, Result, Task};
use quadrille_gpu::config::Config;
use quadrille_render::convert::{Step, filtered};
use quadrille_render::synth::{Recipe, Synthetic};
use quadrille_scene::formats::ply::PlyWriter;
use quadrille_scene::{Camera, Intrinsics, Scene, SceneInput, load_table};
use quadrille_suite::Program;
use quadrille_view::{
    Access, Commands, Control, ListedView, OpenScene, SceneContent, Sequence, Show, ShownScene,
    serve,
};
use serde_json::{Value, json};
use tungstenite::client::IntoClientRequest;
use tungstenite::http::HeaderValue;
use tungstenite::{Message, WebSocket};

pub(crate) const TOKEN: &str = "00112233445566778899aabbccddeeff";
/// Longest wait for an event on a loaded machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

const PROGRAM: Program = Program { version: "1.2.3", commit: "unknown", sources: "unknown" };

/// A running server, which ends when it is dropped.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) control: Control,
    task: Task,
    thread: Option<JoinHandle<Result<()>>>,
    /// Folder of the scene file.
    pub(crate) folder: tempfile::TempDir,
}

/// Settings that tests vary.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) splats: Option<u32>,
    pub(crate) viewers: Option<usize>,
    pub(crate) second: bool,
    pub(crate) watch: bool,
    pub(crate) idle_exit: Option<Duration>,
    pub(crate) photo: Option<quadrille_base::image::Frame>,
    pub(crate) opener: Option<Arc<dyn OpenScene>>,
    /// Number of scenes of a sequence in place of the first scene.
    pub(crate) sequence: Option<u64>,
}

/// Writes a scene of a number of splats as PLY.
pub(crate) fn write_scene(path: &Path, splats: u32, seed: u64) {
    let scene = Synthetic::new(Recipe::Object, seed, splats.into(), 1).unwrap();
    quadrille_base::output::write_whole(path, &Task::NEVER, |out| {
        let mut writer = PlyWriter::new(out, scene.len(), scene.sh_degree(), &[])?;
        for index in 0..scene.len() {
            writer.push(&scene.splat(index))?;
        }
        writer.finish().map(drop)
    })
    .unwrap();
}

/// A camera that looks at the scene.
pub(crate) fn camera(turn: f64, [width, height]: [u32; 2]) -> Camera {
    let cam = placed(turn);
    let point = |name: &str| {
        let numbers = cam[name].as_array().unwrap().iter();
        let numbers: Vec<f64> = numbers.map(|n| n.as_f64().unwrap()).collect();
        Vector3::new(numbers[0], numbers[1], numbers[2])
    };
    let lens = Intrinsics::from_vertical_fov(width, height, 50_f64.to_radians());
    Camera::look_at("eye", lens, point("eye"), point("target"), point("up")).unwrap()
}

/// The camera of [`camera`] as in requests.
pub(crate) fn placed(turn: f64) -> Value {
    let eye = [3.0 * turn.cos(), -1.0, 3.0 * turn.sin()];
    json!({"eye": eye, "target": [0.0, 0.0, 0.0], "up": [0.0, -1.0, 0.0], "fov_degrees": 50.0, "lens": null})
}

/// What a page shows with the source of the first scene, in requests of its map, its pixels and its commands.
pub(crate) fn shot(cam: &Value, [width, height]: [u32; 2]) -> Value {
    json!({"cam": cam, "w": width, "h": height, "source": source()})
}

/// A source of the first scene.
pub(crate) fn source() -> Value {
    json!({"scene": 0, "profile": null, "renderer": "cpu", "layer": null, "background": null, "filters": {}})
}

/// A request to show one source.
pub(crate) fn show() -> Value {
    json!({"a": source(), "b": null, "mode": "single", "split": 0.5, "gain": 4})
}

/// A request for a picture.
pub(crate) fn request(
    kind: &str,
    seq: u32,
    cam: &Value,
    [width, height]: [u32; 2],
    show: &Value,
) -> Value {
    json!({"t": kind, "seq": seq, "cam": cam, "w": width, "h": height, "show": show})
}

fn read(path: &Path, steps: &[Step]) -> Result<Scene> {
    filtered(load_table(SceneInput::file(path))?, steps, path, &Task::NEVER)
}

pub(crate) fn shown(path: &Path) -> Result<ShownScene> {
    let file = path.to_owned();
    Ok(ShownScene {
        path: path.to_owned(),
        content: SceneContent::Splats(Arc::new(read(path, &[])?)),
        profile: Profile::default(),
        reader: Arc::new(move |steps| Ok(SceneContent::Splats(Arc::new(read(&file, steps)?)))),
    })
}

/// Scenes with three views around them.
pub(crate) fn show_of(
    paths: &[&Path],
    photo: Option<&Path>,
    opener: Option<Arc<dyn OpenScene>>,
) -> Result<Show> {
    let views = (0..3).map(|n| ListedView {
        camera: camera(f64::from(n), [320, 180]),
        name_in_file: None,
        selector: None,
        photo: photo.filter(|_| n == 0).map(Path::to_owned),
    });
    Ok(Show {
        scenes: paths.iter().map(|path| shown(path)).collect::<Result<_>>()?,
        sequence: None,
        views: views.collect(),
        target: [0.0; 3],
        up: [0.0, -1.0, 0.0],
        radius: 1.0,
        size: None,
        background: [0.2, 0.4, 0.6],
        stop: None,
        near: None,
        order: None,
        exposures: None,
        level: SimdLevel::best(),
        config: Config::default(),
        watch: false,
        commands: vec![Commands::default(); 2],
        meshes: None,
        opener,
    })
}

impl Server {
    pub(crate) fn start(options: Options) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let [first, second] = ["first.ply", "second.ply"].map(|name| folder.path().join(name));
        write_scene(&first, options.splats.unwrap_or(2000), 1);
        let numbered = (1..=options.sequence.unwrap_or(0)).map(|number| {
            let path = folder.path().join(format!("time_{number}.ply"));
            write_scene(&path, 500, number);
            path
        });
        let numbered: Vec<_> = numbered.collect();
        let mut paths = vec![numbered.first().map_or(&*first, |path| path)];
        if options.second {
            write_scene(&second, 1000, 2);
            paths.push(&second);
        }
        let photo = options.photo.map(|photo| {
            let path = folder.path().join("0.png");
            quadrille_base::image::files::write(&path, &photo).unwrap();
            path
        });
        let show = show_of(&paths, photo.as_deref(), options.opener).unwrap();
        let sequence = (!numbered.is_empty()).then(|| Sequence {
            names: (1..=numbered.len()).map(|number| format!("time_{number}.ply")).collect(),
            path: "time_*.ply".into(),
            reader: Arc::new(move |number| shown(&numbered[number])),
        });
        let show = Show { watch: options.watch, sequence, ..show };
        let access = Access {
            bind: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: 0,
            host_names: vec!["render.lab".to_owned()],
            token: TOKEN.to_owned(),
            viewers: options.viewers.unwrap_or(4),
            max_pixels: 1_000_000,
            idle_exit: options.idle_exit,
        };
        let task = Task::new();
        let (sender, receiver) = std::sync::mpsc::channel();
        let running = task.clone();
        let thread = std::thread::spawn(move || {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
            serve(show, &access, &PROGRAM, pool, &running, move |control| {
                sender.send(control).unwrap();
                Ok(())
            })
        });
        let control = receiver.recv_timeout(PATIENCE).unwrap();
        Self { address: control.address(), control, task, thread: Some(thread), folder }
    }

    /// Waits until the server ends by itself.
    pub(crate) fn ended(mut self) -> Result<()> {
        self.thread.take().unwrap().join().unwrap()
    }

    /// Ends the server; returns the result of [`serve`].
    pub(crate) fn end(mut self) -> Result<()> {
        self.task.cancel();
        self.thread.take().unwrap().join().unwrap()
    }

    /// Sends the bytes of a request; returns the answer.
    pub(crate) fn raw(&self, request: &str) -> String {
        self.raw_bytes(request.as_bytes())
    }

    pub(crate) fn raw_bytes(&self, request: &[u8]) -> String {
        let mut stream = self.connect();
        // The server may close before all of a refused request is written.
        let _ = stream.write_all(request);
        let mut answer = Vec::new();
        // The server may close before all of a wrong request is written.
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Opens a page.
    pub(crate) fn page(&self) -> Page {
        self.try_page(&self.address.to_string(), TOKEN).unwrap()
    }

    /// Opens a page from an origin with a token; fails with the status.
    pub(crate) fn try_page(&self, origin: &str, token: &str) -> std::result::Result<Page, u16> {
        let mut request = format!("ws://{}/ws", self.address).into_client_request().unwrap();
        let headers = request.headers_mut();
        let origin = format!("http://{origin}");
        headers.insert("origin", HeaderValue::from_str(&origin).unwrap());
        let protocols = format!("quadrille.v1, token.{token}");
        headers.insert("sec-websocket-protocol", HeaderValue::from_str(&protocols).unwrap());
        match tungstenite::client(request, self.connect()) {
            Ok((socket, answer)) => {
                let protocol = answer.headers().get("sec-websocket-protocol");
                assert_eq!(protocol.unwrap(), "quadrille.v1");
                Ok(Page { socket, pictures: 0, welcome: Value::Null }.greeted())
            }
            Err(tungstenite::HandshakeError::Failure(tungstenite::Error::Http(answer))) => {
                Err(answer.status().as_u16())
            }
            Err(error) => panic!("no handshake: {error}"),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.cancel();
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            let is_cancelled = matches!(ended, Ok(Err(Error::Cancelled)));
            assert!(is_cancelled || std::thread::panicking(), "{ended:?}");
        }
    }
}

/// A connected page without a browser.
pub(crate) struct Page {
    pub(crate) socket: WebSocket<TcpStream>,
    /// Bytes of pictures that arrived.
    pictures: u64,
    pub(crate) welcome: Value,
}

/// A picture that arrived.
#[derive(Debug, Clone)]
pub(crate) struct Picture {
    pub(crate) kind: u8,
    pub(crate) codec: u8,
    pub(crate) flags: u16,
    pub(crate) number: u32,
    pub(crate) generation: u32,
    pub(crate) size: [u32; 2],
    pub(crate) bytes: Vec<u8>,
}

/// A message that arrived.
#[derive(Debug, Clone)]
pub(crate) enum Received {
    Text(Value),
    Picture(Picture),
    /// Code of the close frame.
    Closed(u16),
}

impl Page {
    fn greeted(mut self) -> Self {
        self.welcome = self.text("welcome");
        self
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.socket.send(Message::text(message.to_string())).unwrap();
    }

    /// The next message. Parts of pictures are confirmed and joined.
    pub(crate) fn next(&mut self) -> Received {
        let mut bytes: Vec<u8> = Vec::new();
        let start = Instant::now();
        loop {
            assert!(start.elapsed() < PATIENCE, "nothing but pings came");
            let message = match self.socket.read() {
                Ok(Message::Text(text)) => {
                    return Received::Text(serde_json::from_str(&text).unwrap());
                }
                Ok(Message::Binary(message)) => message,
                Ok(Message::Close(frame)) => {
                    return Received::Closed(frame.map_or(0, |frame| frame.code.into()));
                }
                Ok(_) => continue,
                Err(tungstenite::Error::ConnectionClosed | tungstenite::Error::AlreadyClosed) => {
                    return Received::Closed(0);
                }
                Err(error) => panic!("no message: {error}"),
            };
            let word = |at: usize| u32::from_le_bytes(message[at..at + 4].try_into().unwrap());
            let half = |at: usize| u16::from_le_bytes(message[at..at + 2].try_into().unwrap());
            let part = &message[32..];
            // Stills that end early leave parts without an end.
            if word(28) == 0 {
                bytes.clear();
            }
            assert_eq!(word(28) as usize, bytes.len(), "offset of a part");
            bytes.extend_from_slice(part);
            let (kind, flags) = (message[0], half(2));
            assert!(kind == 1 || part.len() <= 32 << 10, "{} bytes in a part", part.len());
            self.pictures += part.len() as u64;
            let got = json!({"t": "got", "bytes": self.pictures});
            self.send(&got);
            if flags & 1 == 1 {
                assert_eq!(word(24) as usize, bytes.len(), "length of a picture");
                return Received::Picture(Picture {
                    kind,
                    codec: message[1],
                    flags,
                    number: word(4),
                    generation: word(8),
                    size: [half(12).into(), half(14).into()],
                    bytes,
                });
            }
        }
    }

    /// Waits for a text of a kind; confirms frames meanwhile.
    pub(crate) fn text(&mut self, kind: &str) -> Value {
        self.wait(|received| match received {
            Received::Text(text) if text["t"] == kind => Some(text.clone()),
            Received::Text(text) => {
                assert_ne!(text["t"], "error", "{text}");
                None
            }
            _ => None,
        })
    }

    /// Waits for a picture of a kind and number; confirms frames.
    pub(crate) fn picture(&mut self, kind: u8, number: u32) -> Picture {
        self.wait(|received| match received {
            Received::Picture(picture) if (picture.kind, picture.number) == (kind, number) => {
                Some(picture.clone())
            }
            Received::Text(text) => {
                assert_ne!(text["t"], "error", "{text}");
                None
            }
            _ => None,
        })
    }

    /// Waits for a message that `matches` accepts; confirms frames.
    pub(crate) fn wait<T>(&mut self, matches: impl Fn(&Received) -> Option<T>) -> T {
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            let received = self.next();
            if let Received::Picture(picture) = &received
                && picture.kind == 1
            {
                let shown = json!({"t": "shown", "seq": picture.number});
                self.send(&shown);
            }
            if let Some(value) = matches(&received) {
                return value;
            }
            assert!(!matches!(received, Received::Closed(_)), "{received:?}");
        }
        panic!("nothing came");
    }

    /// Waits for the close frame; returns its code.
    pub(crate) fn closed(&mut self) -> u16 {
        loop {
            if let Received::Closed(code) = self.next() {
                return code;
            }
        }
    }
}

impl Picture {
    /// Red, green and blue of a lossless picture.
    pub(crate) fn rgb(&self) -> Vec<u8> {
        assert_eq!(self.codec, 2, "WebP");
        let mut decoder = image_webp::WebPDecoder::new(std::io::Cursor::new(&self.bytes)).unwrap();
        let (width, height) = decoder.dimensions();
        assert_eq!([width, height], self.size);
        let mut rgb = vec![0; decoder.output_buffer_size().unwrap()];
        decoder.read_image(&mut rgb).unwrap();
        assert_eq!(rgb.len(), 3 * width as usize * height as usize);
        rgb
    }
}
